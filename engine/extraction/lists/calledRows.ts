import type { Field } from '../fields/fields.ts';
import { textFinding, type Finding, type RowFindings } from '../finding.ts';
import { cellValue } from '../grids/cellValues.ts';
import { ALIKE, spelledAlike } from '../words/alike.ts';
import type { Row, Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import type { Listed } from './rowMembers.ts';
import { lexicon } from '../words/lexicon.ts';

/** "Coverage B - Other Structures", "Lot 4: Oak table", "Phase II Roofing". */
const CALLED = /^(\p{L}{3,20})\s(\p{Lu}|[IVX]{1,5}|\d{1,3})(?![\p{L}\p{N}])\s?[-–—:.)]?\s*/u;
/** So many rows are a list. */
const ROWS_MIN = 2;
const EVIDENCE = { label: 0.75, strictness: 0.6, margin: 0.2, agreement: 0 };
/** Words of a field that asks for what tells the rows apart. */
const CODES = lexicon.asks.row_code;

/** The rows of a list that stand under the list's own word with a letter or a number each, in whatever table. */
export function calledRows({ fields, called, outer }: Listed, source: Source): readonly RowFindings[] {
  const [code, ...codes] = fields.filter(isCode);
  const [name, ...names] = fields.filter((field) => field !== code && isText(field));
  if (code === undefined || name === undefined || codes.length + names.length + outer.size > 0) return [];
  const words = called.phrases.flatMap((phrase) => phrase.slice(-1));
  const others = fields.filter((field) => field !== code && field !== name);
  const rows = source.layout.rows.flatMap((row) => rowOf(row, { words, code, name, others, source }));
  return rows.length < ROWS_MIN ? [] : rows;
}

const isText = ({ type, kind }: Field): boolean => type === 'string' && kind !== 'date';

const isCode = (field: Field): boolean =>
  field.type !== 'boolean' &&
  (field.choices.length > 0 || field.phrases.some((words) => CODES.has(words.at(-1) ?? '')));

interface CalledList {
  /** How the list calls one of its rows. */
  readonly words: readonly string[];
  readonly code: Field;
  readonly name: Field;
  readonly others: readonly Field[];
  readonly source: Source;
}

function rowOf({ segments: [first, ...cells] }: Row, asked: CalledList): readonly RowFindings[] {
  const match = first === undefined ? null : CALLED.exec(first.text);
  if (first === undefined || match === null) return [];
  const [start, word = '', mark = ''] = match;
  if (!asked.words.some((own) => spelledAlike(own, word.toLowerCase()) >= ALIKE)) return [];
  const { code, name, source } = asked;
  const at = word.length + 1;
  const marked = textFinding([{ segment: first, from: at, to: at + mark.length }], EVIDENCE);
  const value =
    marked === undefined ? undefined : cellValue(code, cellOf(first, marked), { source, evidence: EVIDENCE });
  const [named, rest] = nameIn(first, start.length, cells);
  if (value === undefined || named === undefined) return [];
  return [new Map([[code.pointer, value], [name.pointer, named], ...valuesIn(rest, asked)])];
}

/** The name behind the letter or number, or in the next cell, with the cells after it. */
function nameIn(
  segment: Segment,
  from: number,
  cells: readonly Segment[],
): readonly [Finding | undefined, readonly Segment[]] {
  const own = textFinding([{ segment, from, to: segment.text.length }], EVIDENCE);
  const [next, ...rest] = cells;
  if (own !== undefined || next === undefined) return [own, cells];
  return [textFinding([{ segment: next, from: 0, to: next.text.length }], EVIDENCE), rest];
}

const cellOf = ({ page }: Segment, { text, words }: Finding) => ({ text, page, words, columnSpan: 1 });

/** The values of the other fields, in the order of the schema, each in the first cell of its type that is left. */
function valuesIn(
  cells: readonly Segment[],
  { others, source }: CalledList,
): readonly (readonly [string, Finding])[] {
  const left = [...cells];
  return others.flatMap((field): readonly (readonly [string, Finding])[] => {
    const reading = { source, evidence: EVIDENCE };
    const found = left.map((one) => cellValue(field, { ...one, columnSpan: 1 }, reading));
    const at = found.findIndex((one) => one !== undefined);
    const value = found[at];
    if (value === undefined) return [];
    left.splice(0, at + 1);
    return [[field.pointer, value]];
  });
}
