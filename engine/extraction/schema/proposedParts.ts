import { opensBox } from '../form/boxes.ts';
import { isItem, isLabelLike, isSentence } from '../form/printed.ts';
import type { Pair } from '../form/pair.ts';
import { groupedBy } from '../../kernel/lists.ts';
import { titledSections } from '../lists/datedEntries.ts';
import { isStamp } from '../parts/partOffers.ts';
import { paragraphsOf } from '../places/paragraphs.ts';
import { rolesSaid } from '../prose/roles.ts';
import { labelIndexOf } from '../singles/labelIndex.ts';
import type { Source } from '../source.ts';
import { statementsOf, type Statement } from '../statements/statements.ts';
import { datesIn } from '../values/dates.ts';
import type { Properties } from './proposedSchema.ts';

/** What a document names by its form rather than in its blocks: labels of forms, stamps, roles, figures. */
export function addParts(source: Source, properties: Properties, isTold: (text: string) => boolean): void {
  const figures = statementsOf(source)
    .filter(isOfPeriods)
    .flatMap(({ lines }) => lines);
  const isOfFigures = figures.length >= LINES_MIN;
  if (isOfFigures) properties.addRows('Figures', FIGURE);
  else addForm(source, properties, isTold);
  addStamps(source, properties);
  for (const { role, isSeveral } of rolesSaid(source)) {
    if (isSeveral) properties.addTexts(capitalized(role));
    else properties.add(capitalized(role), []);
  }
}

const FIGURE = {
  line: { type: 'string', description: 'Name of the line' },
  period: { type: 'string', description: 'Period of the figure, such as FY2025 Q2' },
  value: { type: 'number', description: 'Figure as printed' },
  unit: { type: 'string', description: 'Currency or %' },
  scale: { type: 'number', description: 'What the figure is multiplied by, such as 1000' },
} as const;

/** So many lines of figures make a document one of them: what it calls by labels else are headings of its lines. */
const LINES_MIN = 12;

const isOfPeriods = ({ columns }: Statement): boolean =>
  columns.filter(({ period: { month, year } }) => month !== undefined && year !== undefined).length > 1;

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** So many texts make a column of labels. */
const LABELS_MIN = 3;

/** Labels of a form with their values, the surest first; what is the label of one is the value of none. */
function addForm(source: Source, properties: Properties, isTold: (text: string) => boolean): void {
  const { form } = labelIndexOf(source);
  const columns = labelColumns(form.pairs);
  const isLabelled = ({ kind, at, label }: Pair): boolean =>
    kind === 'colon' || kind === 'cell' || /[:：]$/.test(label)
      ? !isInSentence(at, source)
      : isBegun(label) &&
        (kind === 'below'
          ? form.labels.has(at) || isItem(label)
          : /#$/.test(label) || isLabelLike(label) || (kind === 'right' && columns.has(columnOf({ at }))));
  const isValue = ({ segment, from, to }: Pair['value']): boolean => {
    const text = segment.text.slice(from, to).trim();
    return (
      !form.isPrinted(segment) && !opensBox(text) && !NO_VALUE.test(text) && !isInSentence(segment, source)
    );
  };
  const values = new Set<unknown>();
  const labels = new Set<unknown>();
  const pairs = form.pairs
    .filter((pair) => isLabelled(pair) && !isTold(pair.at.text) && isValue(pair.value))
    .map((pair, i) => ({ pair, i, rank: pair.kind === 'below' ? 2 : /[:：]$/.test(pair.label) ? 0 : 1 }))
    .sort((a, b) => a.rank - b.rank || a.i - b.i);
  for (const { pair } of pairs) {
    const { at, value } = pair;
    if (at !== value.segment && (values.has(at) || labels.has(value.segment) || values.has(value.segment)))
      continue;
    labels.add(at);
    values.add(value.segment);
    properties.add(pair.label, [value.segment.text.slice(value.from, value.to)]);
  }
}

/** A blank, the number of a line, or another label. */
const NO_VALUE = /_{3}|\.{4}|^\(?\d{1,2}(?:[a-z][.)]?|[.)])$|[:：]$|^\(\d/;

const isBegun = (label: string): boolean => !/^\p{Ll}/u.test(label);

const columnOf = ({ at }: Pick<Pair, 'at'>): string => `${String(at.page)} ${String(Math.round(at.x0 / 4))}`;

/** Columns of texts few of which have a digit, left of values that are not mostly numbers: these are a table's. */
function labelColumns(pairs: readonly Pair[]): ReadonlySet<string> {
  const columns = groupedBy(
    pairs.filter(({ kind }) => kind === 'right'),
    columnOf,
  );
  const areLabels = (own: readonly Pair[]): boolean =>
    own.length >= LABELS_MIN &&
    3 * own.filter(({ at }) => /\d/.test(at.text)).length <= own.length &&
    2 * own.filter(({ value }) => !/\p{L}|\d\D\d\d?\D\d/u.test(value.segment.text)).length <= own.length;
  return new Set([...columns].filter(([, own]) => areLabels(own)).map(([column]) => column));
}

/** Goes on in a text of sentences. */
function isInSentence(segment: Pair['at'], source: Source): boolean {
  const place = paragraphsOf(source.layout).of.get(segment);
  return place !== undefined && place.from > 0 && isSentence(place.paragraph.text);
}

/** Dates behind what was done on them: "Received by the Registry 3/14/2031". */
function addStamps({ layout, conventions }: Source, properties: Properties): void {
  for (const { text } of layout.segments) {
    const [date] = isStamp(text) ? datesIn(text, conventions.dayFirst) : [];
    const isAll = date !== undefined && /^\p{Lu}/u.test(text) && text.length - date.to <= TIME_CHARACTERS;
    if (isAll) properties.add(text.split(' ', 1)[0] ?? '', [date.text]);
  }
}

/** The time of day behind a date. */
const TIME_CHARACTERS = 14;

const ITEMS_MIN = 2;
const ENTRY_CHARACTERS = 160;
const TITLE_CHARACTERS = 40;
const LINE_MIN = 4;

const ENTRY = {
  title: { type: 'string', description: 'Title, position or degree' },
  organization: { type: 'string', description: 'Organization or place' },
  from: { type: 'string', description: 'Start' },
  to: { type: 'string', description: 'End' },
  description: { type: 'string', description: 'Description' },
} as const;

/** Sections whose entries tell their time, and those of short lines; whether a line is told by one of them. */
export function addSections(source: Source, properties: Properties): (line: string) => boolean {
  const sections = titledSections(source).filter(({ title }) => title.length <= TITLE_CHARACTERS);
  const isOfEntries = sections.filter(({ isDated }) => isDated).length > 1;
  const told: string[] = [];
  for (const section of sections) {
    const texts = section.items.map(({ text }) => text);
    if (addSection(section, isOfEntries, properties)) told.push(...texts);
    else if (isOfEntries && texts.length === 1) properties.add(nameOf(section), texts);
  }
  const all = told.join('\n');
  return (line) => line.trim().length >= LINE_MIN && all.includes(line.trim());
}

/** Adds the list of a section; false where it is none. */
function addSection(section: Titled, isOfEntries: boolean, properties: Properties): boolean {
  if (isOfEntries && section.isDated) properties.addRows(nameOf(section), ENTRY);
  else if (isOfTexts(section, isOfEntries)) properties.addTexts(nameOf(section));
  else return false;
  return true;
}

type Titled = ReturnType<typeof titledSections>[number];

const nameOf = ({ title }: Titled): string =>
  title === title.toUpperCase() ? capitalized(title.toLowerCase()) : title;

/** Short lines alone, marked as a list unless other sections show that the document is one of entries. */
const isOfTexts = ({ items }: Titled, isOfEntries: boolean): boolean =>
  items.length >= ITEMS_MIN &&
  items.every(
    ({ text, isItem: isMarked }) =>
      (isOfEntries || isMarked) && text.length <= ENTRY_CHARACTERS && !isSentence(text),
  );
