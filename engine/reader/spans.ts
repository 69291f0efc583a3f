import type { Json } from '../kernel/json.ts';
import type { ValueKind } from '../extraction/words/concepts.ts';
import { paragraphsOf } from '../extraction/places/paragraphs.ts';
import { overlap, type Row, type Segment } from '../extraction/places/layout.ts';
import type { Source } from '../extraction/source.ts';
import { labelWordsOf, type Place, type Places, type Relation } from './places.ts';
import { wordsOf } from './words.ts';
import { groupedBy } from '../kernel/lists.ts';

/** How a span was cut out of what stands on the page. */
export const CUTS = [
  'typed', 'whole', 'colon', 'colon2', 'comma', 'dash', 'bracket', 'beforeBracket', 'suffix', 'prefix', 'lines',
  'linesColon', 'paragraph', 'caps', 'phrase', 'quoted', 'sentence', 'duration', 'time', 'rules',
] as const; // prettier-ignore
export type Cut = (typeof CUTS)[number];
export type SpanKind = ValueKind | 'duration' | 'time';

/** What could be a value: a part of a line or of a paragraph, or lines below each other. */
export interface Span {
  /** A line, or a paragraph of several. */
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;
  /** The lines that it goes on in. */
  readonly more: readonly Segment[];
  readonly text: string;
  readonly value: Json;
  readonly kind: SpanKind | undefined;
  readonly cut: Cut;
  /** 0..1: how sure its form makes its kind; 1 more where a currency stands with it. */
  readonly strict: number;
  /** Numbers of labels, by their relation. */
  readonly labels: Readonly<Record<Relation, number>>;
  readonly place: Place;
  /** 1: first of a range that is joined by a mark or a word, 2: its last; 3, 4: side by side. */
  range: 0 | 1 | 2 | 3 | 4;
  /** Lines that go on below and above. */
  readonly goesOn: number;
  readonly cameFrom: number;
}

const LEAD = /^[\s:;,.\-–—_|*•"“”'(]+(?=\S)/;
const TAIL = new Set(' :;,_|"“”');
const COUNT =
  'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|eighteen|twenty(?:-four)?|thirty(?:-six)?|' +
  'sixty|ninety';
const UNIT =
  'years?|months?|weeks?|days?|hours?|Jahre?n?|Monate?n?|Tage?n?|ans?|mois|jours?|años?|meses|días';
const DURATION = new RegExp(
  `\\b(?:(?:${COUNT})\\s?(?:\\(\\s?\\d{1,4}\\s?\\))?|\\(?\\d{1,3}\\)?)[\\s-]?(?:\\(\\d{1,4}\\)\\s?)?` +
    `(?:calendar |business |full |consecutive )?(?:${UNIT})\\b`,
  'giu',
);
const TIME =
  /\b\d{1,2}[:.]\d{2}(?::\d{2})?\s?(?:[ap]\.?\s?m\.?|Uhr|hrs?)?(?![\d/.])|\b\d{1,2}\s?[ap]\.?m\.?(?!\p{L})/giu;
const FIRM =
  '(?:,? (?:Inc|LLC|L\\.L\\.C|Ltd|Corp|N\\.A|L\\.P|LP|Co|S\\.A|GmbH|AG|PLC|Jr|Sr|M\\.D|Ph\\.D)\\.?)?';
const CAPITAL = `\\p{Lu}[\\p{L}\\p{N}&'’.\\-]{0,40}${FIRM}`;
const CAPITALS = new RegExp(
  `(?<![\\p{L}\\p{N}])${CAPITAL}(?: (?:(?:of|the|and|for|de|la|du|der|van|von|del|&|in) ){0,2}${CAPITAL}){0,9}`,
  'gu',
);
const SMALL =
  'and|or|by|between|of|for|to|from|in|at|is|are|was|as|with|that|which|the|a|an|under|on|und|von|de|la|les|des|à|y|' +
  'con|der|die|das|im';
const JOINT = new RegExp(`[;:()“”"]|,\\s|\\.\\s(?=\\p{Lu})|\\s[–—-]\\s|\\s(?:${SMALL})\\s`, 'gu');

/** A document has no more spans: what stands later is not looked at. */
const SPANS_MAX = 24_000;
const TEXT_MAX = 3_000;

/** A part of a segment's text. */
type Range = readonly [segment: Segment, from: number, to: number];

interface Pieces {
  readonly add: (cut: Cut, range: Range, more?: Partial<Span>) => void;
}

/** Everything on the pages of a document that could be a value, in reading order. Nothing of a schema. */
export function spansOf(source: Source, places: Places): readonly Span[] {
  const { layout } = source;
  const spans: Span[] = [];
  const runs = runsOf(layout.segments, source);
  const typed = typedBySegment(source);
  const paragraphs = paragraphsOf(layout);
  const pieces = collecting(spans, places, runs);
  for (const segment of layout.segments) {
    if (spans.length >= SPANS_MAX) break;
    for (const { kind, value, from, to, strictness, currency } of typed(segment))
      pieces.add('typed', [segment, from, to], {
        kind,
        value,
        strict: strictness + Number(currency !== undefined),
      });
    addTimed(segment, pieces);
    addCuts(segment, pieces);
    addLines(segment, (runs.get(segment) ?? NO_RUN).lines, pieces);
    addPhrases(segment, paragraphs.of.get(segment)?.paragraph ?? segment, pieces);
  }
  markRanges(spans);
  return spans;
}

function typedBySegment({ candidates }: Source) {
  const bySegment = groupedBy([...candidates.values()].flat(), ({ segment }) => segment);
  return (segment: Segment) => bySegment.get(segment) ?? [];
}

interface Run {
  /** The segment and the lines below it that may go on with it. */
  readonly lines: readonly Segment[];
  above: number;
}

const LINES_MAX = 5;

function runsOf(segments: readonly Segment[], { layout: { rows } }: Source): ReadonlyMap<Segment, Run> {
  const runs = new Map<Segment, Run>();
  for (const segment of segments) runs.set(segment, { lines: linesFrom(segment, rows), above: 0 });
  for (const { lines } of runs.values())
    for (const [i, line] of lines.entries()) {
      const run = runs.get(line);
      if (run !== undefined) run.above = Math.max(run.above, i);
    }
  return runs;
}

function linesFrom(segment: Segment, rows: readonly Row[]): readonly Segment[] {
  const lines = [segment];
  let last = segment;
  for (let k = segment.row + 1; lines.length < LINES_MAX; k += 1) {
    const next = rows[k]?.segments.find((other) => overlap(other, segment) > 0.15);
    if (next === undefined || !goesOn(last, next)) break;
    lines.push(next);
    last = next;
  }
  return lines;
}

const goesOn = (last: Segment, next: Segment): boolean =>
  next.page === last.page &&
  (Math.abs(next.x0 - last.x0) < 6 || Math.abs(next.x0 + next.x1 - last.x0 - last.x1) < 24) &&
  next.y0 - last.y1 < 0.9 * (last.y1 - last.y0) + 1;

function collecting(spans: Span[], places: Places, runs: ReadonlyMap<Segment, Run>): Pieces {
  const seen = new Set<string>();
  return {
    add: (cut, [segment, start, end], more = {}) => {
      const [from, to] = trimmed(segment.text, start, end);
      const { more: lines = [], kind = '' } = more;
      const key = `${segment.index} ${segment.text.length} ${from} ${to} ${lines.length} ${kind}`;
      if (to <= from || to - from > TEXT_MAX || seen.has(key)) return;
      seen.add(key);
      const span = spanAt({ segment, from, to, ...textAt(segment.text.slice(from, to), lines) }, places);
      const run = runs.get(segment) ?? NO_RUN;
      const goesOn = Math.max(0, run.lines.length - 1 - lines.length);
      spans.push({ ...span, cut, goesOn, cameFrom: run.above, ...more });
    },
  };
}

const NO_RUN: Run = { lines: [], above: 0 };

function textAt(first: string, lines: readonly Segment[]): Pick<Span, 'text' | 'value'> {
  const text = [first, ...lines.map((line) => line.text)].join(' ');
  return { text, value: text };
}

/** A range without the marks around a value. */
function trimmed(text: string, start: number, end: number): readonly [number, number] {
  const raw = text.slice(start, end);
  const lead = LEAD.exec(raw)?.[0].length ?? 0;
  let last = raw.length;
  while (last > lead && TAIL.has(raw.charAt(last - 1))) last -= 1;
  if (/[\p{L}\d]{3}\.$/u.test(raw.slice(Math.max(lead, last - 4), last))) last -= 1;
  return [start + lead, start + last];
}

const AFTER_CHARACTERS = 60;
const AFTER_WORDS = 5;
const BEFORE_WORDS = 3;

interface Around {
  readonly place: Place;
  readonly places: Places;
}

function labelsOf(
  { text }: Segment,
  [from, to]: readonly [number, number],
  { place, places: { book } }: Around,
): Readonly<Record<Relation, number>> {
  const before = from > 0 ? labelWordsOf(text.slice(0, from)) : [];
  const after = to < text.length ? wordsOf(text.slice(to, to + AFTER_CHARACTERS)).slice(0, AFTER_WORDS) : [];
  const { left, left2, above, above2, below, right, colhead, rowhead, section } = place;
  return {
    own: book.labelOf(before),
    before: book.labelOf(before.slice(-BEFORE_WORDS)),
    after: book.labelOf(after),
    left,
    left2,
    above,
    above2,
    below,
    right,
    colhead,
    rowhead,
    section,
  };
}

/** A span where the rules found something. */
export function spanAt(
  { segment, from, to, text, value }: Pick<Span, 'segment' | 'from' | 'to' | 'text' | 'value'>,
  places: Places,
): Span {
  const place = places.placeOf(segment);
  const labels = labelsOf(segment, [from, to], { place, places });
  const found = { segment, from, to, text, value, labels, place };
  return { ...found, more: [], kind: undefined, cut: 'rules', strict: 0, range: 0, goesOn: 0, cameFrom: 0 };
}

function addTimed(segment: Segment, { add }: Pieces): void {
  if (!/\d|\(/.test(segment.text) && !/(?:year|month|week|day)/i.test(segment.text)) return;
  for (const { index, 0: found } of segment.text.matchAll(DURATION))
    add('duration', [segment, index, index + found.length], { kind: 'duration', value: found });
  for (const { index, 0: found } of segment.text.matchAll(TIME))
    add('time', [segment, index, index + found.length], { kind: 'time', value: found.trim() });
}

const PARTS_MAX = 6;

function addCuts(segment: Segment, pieces: Pieces): void {
  const { text } = segment;
  const { add } = pieces;
  add('whole', [segment, 0, text.length]);
  for (const { index, 0: mark } of [...text.matchAll(/[:：]\s*/g)].slice(0, PARTS_MAX)) {
    add('colon', [segment, index + mark.length, text.length]);
    const next = text.indexOf(':', index + 1);
    if (next > 0) add('colon2', [segment, index + mark.length, next]);
  }
  for (const { index, 0: found } of [...text.matchAll(/\([^()]{2,60}\)/g)].slice(0, PARTS_MAX)) {
    add('bracket', [segment, index + 1, index + found.length - 1]);
    add('beforeBracket', [segment, 0, index]);
  }
  addComma(segment, pieces);
  for (const { index, 0: found } of [...text.matchAll(/\s[-–—|/]\s/g)].slice(0, PARTS_MAX)) {
    add('dash', [segment, 0, index]);
    add('dash', [segment, index + found.length, text.length]);
  }
  addEnds(segment, pieces);
}

function addComma(segment: Segment, { add }: Pieces): void {
  const comma = segment.text.search(/,\s/);
  if (comma <= 0) return;
  add('comma', [segment, 0, comma]);
  const colon = segment.text.indexOf(':');
  if (colon >= 0 && colon < comma) add('comma', [segment, colon + 1, comma]);
}

const ENDS_WORDS_MAX = 14;

/** Without the first one to three words, or the last one or two. */
function addEnds(segment: Segment, { add }: Pieces): void {
  const { text, starts } = segment;
  if (starts.length > ENDS_WORDS_MAX) return;
  for (const start of starts.slice(1, 4)) add('suffix', [segment, start, text.length]);
  for (const start of starts.slice(2).slice(-2)) add('prefix', [segment, 0, start]);
}

function addLines(segment: Segment, lines: readonly Segment[], { add }: Pieces): void {
  const { text } = segment;
  const colon = text.indexOf(':') + 1;
  for (let k = 2; k <= lines.length; k += 1) {
    const more = lines.slice(1, k);
    add('lines', [segment, 0, text.length], { more });
    if (colon > 0 && colon < text.length) add('linesColon', [segment, colon, text.length], { more });
  }
}

const PROSE_MIN = 60;
const PHRASE_MAX = 160;
const PHRASES_A_PARAGRAPH = 120;

/** Where a paragraph begins, its pieces: names, what stands between joints, quotes, sentences. */
function addPhrases({ index: first }: Segment, paragraph: Segment, pieces: Pieces): void {
  const { text } = paragraph;
  if (text.length < PROSE_MIN || paragraph.index !== first) return;
  const { add } = pieces;
  add('paragraph', [paragraph, 0, text.length]);
  let left = PHRASES_A_PARAGRAPH;
  const put = (cut: Cut, from: number, to: number): void => {
    if (to - from < 2 || to - from > PHRASE_MAX || left <= 0) return;
    left -= 1;
    add(cut, [paragraph, from, to]);
  };
  for (const { index, 0: found } of text.matchAll(CAPITALS)) put('caps', index, index + found.length);
  for (const { index, 0: found } of text.matchAll(/[“"][^”"]{2,80}[”"]/g))
    put('quoted', index + 1, index + found.length - 1);
  let last = 0;
  for (const { index, 0: joint } of text.matchAll(JOINT)) {
    put('phrase', last, index);
    last = index + joint.length;
  }
  put('phrase', last, text.length);
  for (const { index, 0: found } of text.matchAll(DURATION))
    add('duration', [paragraph, index, index + found.length], { kind: 'duration', value: found });
  for (const { index, 0: found } of text.matchAll(/[^.!?]{20,600}[.!?](?=\s|$)/g))
    add('sentence', [paragraph, index, index + found.length]);
}

const JOINS = /^(?:[-–—~/]{1,3}|to|through|thru|until|till|bis|au|al|à|and)?$/i;
const OPEN_END = /^(?:[-–—]|to|through|until|bis)$/i;
const RANGED: ReadonlySet<SpanKind | undefined> = new Set(['date', 'number', 'time']);

/** Two values of one kind joined by a dash or "to" are the first and the last of a range. */
function markRanges(spans: readonly Span[]): void {
  const last = new Map<string, Span>();
  const ranged = spans.filter(({ kind, cut }) => RANGED.has(kind) && (cut === 'typed' || cut === 'time'));
  for (const span of ranged.sort((a, b) => a.segment.index - b.segment.index || a.from - b.from)) {
    const key = `${span.segment.row} ${span.kind ?? ''}`;
    const before = last.get(key);
    if (before !== undefined) markRange(before, span);
    last.set(key, span);
  }
  for (const span of ranged) if (isOpenEnd(span)) span.range = 1;
}

const isOpenEnd = ({ kind, range, segment, to }: Span): boolean =>
  kind === 'date' && range === 0 && OPEN_END.test(segment.text.slice(to).trim());

function markRange(first: Span, last: Span): void {
  const isOne = first.segment === last.segment;
  if (!isOne && last.segment.index - first.segment.index > 2) return;
  const between = isOne
    ? first.segment.text.slice(first.to, last.from)
    : `${first.segment.text.slice(first.to)} ${last.segment.text.slice(0, last.from)}`;
  if (!JOINS.test(between.trim())) return;
  const isFirm = between.trim() !== '';
  if (first.range === 0) first.range = isFirm ? 1 : 3;
  last.range = isFirm ? 2 : 4;
}
