import type { Field } from '../fields/fields.ts';
import { roleIn } from '../fields/fieldConcepts.ts';
import { labelWords } from '../words/labelWords.ts';
import { says } from '../words/says.ts';
import { termsIn, type Terms } from '../fields/terms.ts';
import { ALIKE, alike } from '../words/alike.ts';
import { boxesIn, opensBox } from '../form/boxes.ts';
import { below } from '../form/neighbours.ts';
import type { Pair, Spot } from '../form/pair.ts';
import { isLabelLike } from '../form/printed.ts';
import { paragraphsOf } from '../places/paragraphs.ts';
import type { Source } from '../source.ts';
import { isOtherEnd } from '../parts/ranges.ts';
import { type Segment, wordsIn } from '../places/layout.ts';
import { PART_OFFERINGS } from '../parts/partOffers.ts';
import { goesOnBelow } from '../parties/addressBlocks.ts';
import { isValue } from '../texts.ts';
import { datesIn } from '../values/dates.ts';
import { mentions } from './mentions.ts';
import { labelIndexOf, type ScoredLabel } from './labelIndex.ts';
import { impliedBy, shapeOf, type Shape } from './shapes.ts';
import { isLeftOpen } from './vetoes.ts';
import { type Draft, type Offer, type Offering, valuesAt, type ValueReading } from './values.ts';
import { tickedFor } from './ticked.ts';
import { lexicon } from '../words/lexicon.ts';

const SCORE_MIN = 0.5;
const OFFERS_MAX = 12;
const PAIRS_MAX = 6;

/** The ways to single values by the schema's own words. */
const OFFERINGS: readonly Offering[] = [
  { by: 'labels', offers: labelOffers },
  { by: 'mentions', offers: mentions },
  { by: 'boxes', offers: tickedFor },
  ...PART_OFFERINGS,
];

function labelOffers(field: Field, source: Source): readonly Draft[] {
  return labelIndexOf(source)
    .labelled(field.terms, impliedBy(shapeOf(field)))
    .map(({ label, score }) => ({ label, score: score * ownShare(field, { label, score }, source) }))
    .filter(({ score }) => score >= SCORE_MIN)
    .flatMap(({ label, score }) =>
      label.pairs.slice(0, PAIRS_MAX).flatMap((pair) => offered(field, { pair, score }, source)),
    );
}

/** All that a document offers a field by labels and sentences, the best first. */
export function offersFor(field: Field, source: Source): readonly Offer[] {
  return OFFERINGS.filter(({ by }) => source.without?.has(by) !== true)
    .flatMap(({ by, offers }) => offers(field, source).map((draft) => ({ ...draft, by })))
    .filter(({ segment, from, to, kind }) => {
      const [first] = wordsIn(segment, from, to);
      return (
        first === undefined ||
        !(isLeftOpen(field, { first, kind }, source) || isOtherEnd(field, first, source))
      );
    })
    .sort((a, b) => b.score - a.score || a.segment.index - b.segment.index || a.from - b.from)
    .slice(0, OFFERS_MAX)
    .map((offer, _, all) => ({ ...offer, isDoubtful: all.some((other) => isRival(offer, other)) }));
}

const AS_WELL = 0.02;

/** Another value that the same words name as well, in the same way: they say neither. */
const isRival = (one: Draft, other: Draft): boolean =>
  other.kind === one.kind &&
  other.score > one.score - AS_WELL &&
  JSON.stringify(other.value) !== JSON.stringify(one.value);

/** From here a label says the field's own name, whatever concept it also is. */
const OWN_NAME = 0.95;
const SAID_BY_OTHER = 0.95;
/** So much better another concept is said. */
const BETTER = 0.1;
const OTHERS_SHARE = 0.5;

/**
 * A label that is known to say another concept than the field's says the field but half: a subtotal is no total.
 * What the schema itself says of a field is the field's own.
 */
function ownShare(field: Field, { label, score }: ScoredLabel, { labels }: Source): number {
  const { concept, terms } = field;
  const [{ label: text, context } = NO_PAIR] = label.pairs;
  if (isOtherOne(field, text)) return 0;
  if (isOfOther(terms, termsIn(context)) || saysAnother(terms, label.words)) return OTHERS_SHARE;
  const isOwn = score >= OWN_NAME || label.words.every((word) => terms.all.has(word));
  if (isOwn || concept === undefined) return 1;
  const best = labels.any(label.words);
  const isOthers = best >= SAID_BY_OTHER && labels.concept(concept.id, label.words) < best - BETTER;
  return isOthers ? OTHERS_SHARE : 1;
}

const NO_PAIR = { label: '', context: '' };

const saysAnother = ({ all }: Terms, words: readonly string[]): boolean =>
  words.some((word) => ANOTHER.has(word) && !all.has(word));

/** The heading names an object beside the field's own in the schema, and not that: "Buyer" for a seller's. */
function isOfOther({ around = [], others = [] }: Terms, heading: readonly string[]): boolean {
  const named = (words: readonly string[]): number =>
    words.length === 0
      ? 0
      : words.filter((word) => heading.some((one) => alike(word, one) >= ALIKE)).length / words.length;
  return heading.length > 0 && others.some((words) => named(words) > named(around));
}

/** "Alt Order #", "Previous Address": what such a word stands before is another one than is asked for. */
const ANOTHER: ReadonlySet<string> = new Set(lexicon.forms.another.words.flatMap(termsIn));

const ONE_OF_SEVERAL = /(?:^|[\s_])([a-z]|\d{1,2})\W*$/iu;

/** Names that end in a letter or a number of one digit or two are told apart by it: "Insurer A", `insurer_b`. */
function isOtherOne({ pointer, terms }: Field, label: string): boolean {
  const [own, other] = [pointer.slice(pointer.lastIndexOf('/') + 1), label].map((text) =>
    ONE_OF_SEVERAL.exec(text)?.[1]?.toLowerCase(),
  );
  if (own === undefined || other === undefined || terms.unit !== undefined) return false;
  return own !== other && /\d/.test(own) === /\d/.test(other);
}

interface ScoredPair {
  readonly pair: Pair;
  readonly score: number;
}

function offered(field: Field, { pair, score }: ScoredPair, source: Source): readonly Draft[] {
  const spot = tickedSpot(pair.value, source);
  const [value] = spot === undefined ? [] : valuesAt(spot, { field, conventions: source.conventions });
  const shape = shapeOf(field);
  const isFree = shape === 'text' || shape === 'name';
  if (value === undefined || (isFree && isLabelText(value, { pair, score }, source))) return [];
  return [
    {
      ...goneOn(value, { field, pair, shape }, source),
      kind: pair.kind,
      isTitled: isTitled(field, pair),
      score: score * shareOf(field, { pair, score }, source),
    },
  ];
}

/** The heading that the label stands under gives it the field's own role: "Name:" below "Buyer". */
const isTitled = ({ role }: Field, { context, label }: Pair): boolean =>
  role !== undefined && roleIn(labelWords(label)) === undefined && roleIn(labelWords(context)) === role;

/** A text that reaches the end of its line ends where its paragraph does, or its cell of a form. */
function goneOn(value: ValueReading, { field, pair, shape }: Standing, source: Source): ValueReading {
  if (shape !== 'text' || value.segment.text.slice(value.to).trim() !== '') return value;
  const block = asksAddress(field) ? goesOnBelow(value.segment, source.layout) : [];
  if (block.length > 0) {
    const lines = [value.text, ...block.map((line) => line.text)].map((line) => line.replace(/[,;]$/, ''));
    return { ...value, value: lines.join(', '), text: lines.join(' '), more: block };
  }
  const place = paragraphsOf(source.layout).of.get(value.segment);
  if (place === undefined) {
    const more = cellLines(pair, source);
    const text = [value.text, ...more.map((line) => line.text)].join(' ');
    return more.length === 0 ? value : { ...value, value: text, text, more };
  }
  const { paragraph } = place;
  const from = place.from + value.from;
  const text = paragraph.text.slice(from).trim();
  return { ...value, segment: paragraph, from, to: paragraph.text.length, value: text, text };
}

const ADDRESS = new RegExp(`^${lexicon.forms.address_words.pattern}$`, 'u');
const asksAddress = ({ kind, terms: { name } }: Field): boolean =>
  kind === 'address' || ADDRESS.test(name.at(-1) ?? '');

interface Standing {
  readonly field: Field;
  readonly pair: Pair;
  readonly shape: Shape;
}

/** More lines below a label's value are entries of their own, or a text. */
const CELL_LINES_MAX = 2;
/** Heights of a line that the next of one value may stand below it. */
const CELL_LEADING = 0.8;

/** The lines below a value up to the next label: the value's cell had no room for them beside it. */
function cellLines({ at, value: { segment }, kind }: Pair, source: Source): readonly Segment[] {
  const { layout } = source;
  const isBelow = kind === 'below' && fontSize(at) < fontSize(segment);
  if (kind !== 'right' && !isBelow) return [];
  const { form } = labelIndexOf(source);
  const isOfCell = (line: Segment): boolean =>
    Math.abs(line.x0 - segment.x0) < SAME_LEFT &&
    fontSize(line) === fontSize(segment) &&
    !form.labels.has(line) &&
    !form.isPrinted(line) &&
    !line.text.includes(':') &&
    (isBelow || !layout.rows[line.row]?.segments.some(({ x0, x1 }) => x1 > at.x0 && x0 < line.x0));
  const lines: Segment[] = [];
  for (let last = segment; lines.length <= CELL_LINES_MAX;) {
    const next = below(last, layout, CELL_LEADING * (last.y1 - last.y0));
    if (next === undefined || !isOfCell(next)) return lines;
    lines.push(next);
    last = next;
  }
  return [];
}

const SAME_LEFT = 6;

/** Points; 0 where the format has none. */
const fontSize = ({ words: [word] }: Segment): number => word?.fontSize ?? 0;

const BOXES_MAX = 12;

/** Where a row of boxes stands, the text of the one that is ticked; undefined where none or several are. */
function tickedSpot(spot: Spot, { layout }: Source): Spot | undefined {
  const { segment } = spot;
  if (!opensBox(segment.text.slice(spot.from).trim())) return spot;
  const row = layout.segments
    .slice(segment.index, segment.index + BOXES_MAX)
    .filter((one) => one.row === segment.row);
  const ticked = row.flatMap((one) => boxesIn(one, layout)).filter(({ isTicked }) => isTicked);
  const [only] = ticked;
  return only === undefined || ticked.length > 1 ? undefined : only.value;
}

/** The first of a column of values is one of a list's, and seldom the document's. */
const OF_COLUMN = 0.6;

/** What the place of a pair in a table leaves of the score. */
function shareOf(field: Field, { pair, score }: ScoredPair, source: Source): number {
  if (pair.kind === 'cross') return columnShare(field, pair, score);
  const isOver = pair.kind === 'under' || pair.kind === 'below';
  return isOver && labelIndexOf(source).form.columns.has(pair.value.segment) ? OF_COLUMN : 1;
}

/** A row alone does not say which of its cells is meant. */
const ANY_COLUMN = 0.7;

function columnShare({ terms }: Field, { label, context }: Pair, score: number): number {
  const alone = says({ label: termsIn(label), context: [], implied: new Set() }, terms);
  return context === '' || score > alone + 0.01 ? 1 : ANY_COLUMN;
}

/** Goes on from a sentence: several words, the first of them small. */
const CONTINUES = /^\p{Ll}\S*(?:\s\S+){2}/u;

const isNumbered = ({ text }: ValueReading, { kind, score }: Pick<Draft, 'kind' | 'score'>): boolean =>
  kind === 'right' && score >= NUMBERED && IS_NUMBER.test(text);

const isNoText = (text: string): boolean => !/\p{L}/u.test(text) || CONTINUES.test(text);

/** A date beside a label that says a text but nearly, is the value of another: "Date filed by registrar". */
const isDateAlone = (text: string): boolean =>
  datesIn(text, true).some(({ from, to }) => from === 0 && to === text.length);

/** A row of boxes answers a question of its own. */
const HAS_BOX = /[☐☑☒]/u;

/** Right of a label that says the field so well a text may be a number: "Version 3.2", "Floor 4". */
const NUMBERED = 0.85;
const IS_NUMBER = /^\d[\d./-]{0,30}$/;

const isOthers = (text: string, score: number): boolean =>
  HAS_BOX.test(text) || (score < OWN_NAME && isDateAlone(text));

/** A text that says a label, of this field or of another, is none of its values. */
function isLabelText(value: ValueReading, { pair: { kind }, score }: ScoredPair, source: Source): boolean {
  if (isNumbered(value, { kind, score }) || kind === 'colon') return false;
  if (!isValue({ ...value.segment, text: value.text }, source)) return true;
  if (kind !== 'cell' && isNoText(value.text)) return true;
  if (isOthers(value.text, score)) return true;
  const isPlain = kind === 'beside' || kind === 'under';
  return isPlain && (isLabelLike(value.text) || labelIndexOf(source).form.labels.has(value.segment));
}
