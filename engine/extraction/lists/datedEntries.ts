import type { Box } from '../../document/document.ts';
import { linesOnPages } from '../../document/wholeBlocks.ts';
import type { Json } from '../../kernel/json.ts';
import type { Field } from '../fields/fields.ts';
import { folded } from '../../kernel/text.ts';
import { headerWords, labelWords } from '../words/labelWords.ts';
import { namedBy } from '../words/says.ts';
import { textFinding, type Finding, type RowFindings } from '../finding.ts';
import { plainWords, segmentOf } from '../grids/grid.ts';
import type { Source } from '../source.ts';
import type { Listed } from './rowMembers.ts';
import { isLoud } from './textLines.ts';
import { lexicon } from '../words/lexicon.ts';
import { asks } from '../fields/wants.ts';

/** Members of an entry, by what their names ask for: the first that one asks for is its own. */
const MEMBERS = {
  start: ['start'],
  end: ['end'],
  current: ['ongoing'],
  text: ['long'],
  place: ['org'],
  title: ['title', 'post'],
} as const;
type Member = keyof typeof MEMBERS;

/** A block of text, or one of its lines. */
interface Item {
  readonly text: string;
  readonly page: number;
  readonly box: Box | null;
  readonly isTitle: boolean;
  readonly isHeading: boolean;
  /** It is one of a list: it tells all of its entry. */
  readonly isItem: boolean;
}

/** A section is named so well by its title. */
const NAMED = 0.6;
const NAME_WORDS_MAX = 14;
const EVIDENCE = { label: 0.6, strictness: 0.6, margin: 0.2, agreement: 0 };

const MONTH_YEAR = String.raw`(?:\p{L}{3,9}\.?\s)?(?:19|20)\d{2}`;
const RANGE = new RegExp(
  String.raw`(?<start>${MONTH_YEAR})\s?[-–—]\s?(?<end>${MONTH_YEAR}|\p{L}{3,10})(?!\p{L})`,
  'u',
);

/** A time in brackets at which something was, from its beginning to its end. */
const ONCE = new RegExp(String.raw`\((?<start>${MONTH_YEAR})\)`, 'u');

/**
 * Entries below a title that names the list, each told by the time that it lasted: what it is called stands in the
 * line before its time or in the same one, and what follows tells of it.
 */
export function datedEntries({ fields, called, outer }: Listed, source: Source): readonly RowFindings[] {
  const members = membersOf(fields);
  if (outer.size > 0 || members.start === undefined || members.end === undefined) return [];
  const names = { phrases: called.phrases, about: [labelWords(called.description)] };
  return sectionsOf(source)
    .filter(({ title }) => namedBy(names, headerWords(title)) >= NAMED)
    .flatMap(({ items }) => entriesOf(items).map((entry) => rowOf(entry, members)));
}

const membersOf = (fields: readonly Field[]): Partial<Record<Member, Field>> => {
  const found: Partial<Record<Member, Field>> = {};
  for (const field of fields)
    for (const member of Object.keys(MEMBERS) as Member[]) {
      if (!MEMBERS[member].some((want) => asks(field, want))) continue;
      found[member] ??= field;
      break;
    }
  return found;
};

interface Section {
  readonly title: string;
  readonly items: Item[];
}

/** The titles of what stands below each other in a document, and what they are the titles of. */
export const titledSections = (source: Source): readonly (Section & { readonly isDated: boolean })[] =>
  sectionsOf(source).map((section) => ({ ...section, isDated: entriesOf(section.items).length > 0 }));

function sectionsOf({ document }: Source): readonly Section[] {
  const sections: Section[] = [];
  for (const item of document.pages.flatMap(itemsOfPage)) {
    if (item.isTitle) sections.push({ title: item.text, items: [] });
    else sections.at(-1)?.items.push(item);
  }
  return sections;
}

const itemsOfPage = ({ page, blocks }: Source['document']['pages'][number]): readonly Item[] =>
  blocks.flatMap((block): readonly Item[] => {
    if (block.kind === 'table' || block.kind === 'image') return [];
    const { box, kind } = block;
    const isHeading = kind === 'heading';
    const isTitle = (isHeading && block.level <= 2) || isLoud(block.text);
    const isItem = kind === 'list_item';
    return linesOnPages(block).map(({ text, on = page }) => ({
      text: text.trim(),
      page: on,
      box,
      isTitle,
      isHeading,
      isItem,
    }));
  });

interface Entry {
  readonly name: Item | undefined;
  readonly time: Item;
  readonly range: RegExpExecArray;
  readonly text: Item[];
}

function entriesOf(items: readonly Item[]): readonly Entry[] {
  const entries: Entry[] = [];
  for (const item of items) {
    const range = RANGE.exec(item.text) ?? (item.isItem ? ONCE.exec(item.text) : null);
    const last = entries.at(-1);
    if (range === null) {
      last?.text.push(item);
      continue;
    }
    const name = nameBefore(items, item);
    if (name !== undefined && last?.text.at(-1) === name) last.text.pop();
    entries.push({ name, time: item, range, text: [] });
  }
  return entries;
}

/** The short line right before a time that is not the end of a sentence and no time itself. */
function nameBefore(items: readonly Item[], time: Item): Item | undefined {
  const before = items[items.indexOf(time) - 1];
  if (before === undefined || time.isItem || RANGE.test(before.text) || /[.:;]$/.test(before.text))
    return undefined;
  return before.isHeading || before.text.split(/\s+/).length <= NAME_WORDS_MAX ? before : undefined;
}

function rowOf({ name, time, range, text }: Entry, members: Partial<Record<Member, Field>>): RowFindings {
  const { start = '', end = start } = range.groups ?? {};
  const isNow = lexicon.entries.now.words.some((word) => folded(end).startsWith(word));
  const beside = time.text.slice(0, range.index).replace(/(?<![\s|(,;:–—-])[\s|(,;:–—-]{1,20}$/u, '');
  const [title, place] = namesOf(name?.text, beside);
  const told = text.map((one) => one.text).join('\n');
  const above = name ?? time;
  const [below = time] = text;
  return found(members, [
    ['title', title, above],
    ['place', place, beside === '' ? above : time],
    ['start', start, time],
    ['end', isNow ? undefined : end, time],
    ['current', isNow, time],
    ['text', told === '' ? undefined : told, below],
  ]);
}

type Told = readonly [member: Member, value: Json | undefined, item: Item];

/** What an entry tells of the members that the list asks for. */
const found = (members: Partial<Record<Member, Field>>, told: readonly Told[]): RowFindings =>
  new Map(
    told.flatMap(([member, value, item]): readonly [string, Finding][] => {
      const field = members[member];
      const finding = field === undefined || value === undefined ? undefined : findingAt(item, value);
      return field === undefined || finding === undefined ? [] : [[field.pointer, finding]];
    }),
  );

/** What an entry is called and where it was: in two lines, or in one that a dash or comma parts. */
function namesOf(
  name: string | undefined,
  beside: string,
): readonly [string | undefined, string | undefined] {
  const [place = ''] = beside.split(/\s?\|\s?/);
  if (name === undefined) return [undefined, place === '' ? undefined : place];
  if (place !== '') return [name, place];
  const parted = /^(.+?)(?:\s[-–—|]\s|,\s)(.+)$/u.exec(name.replace(/^(\S{1,6})\s[-–—]\s/u, '$1 \u2011 '));
  const whole = (text: string | undefined): string | undefined => text?.replace(' \u2011 ', ' - ');
  return parted === null ? [name, undefined] : [whole(parted[1]), whole(parted[2])];
}

function findingAt({ text, page, box }: Item, value: Json): Finding | undefined {
  const segment = segmentOf({ text, page, words: plainWords(text, box), columnSpan: 1 });
  const finding = textFinding([{ segment, from: 0, to: segment.text.length }], EVIDENCE);
  return finding === undefined ? undefined : { ...finding, value };
}
