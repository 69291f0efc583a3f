import type { Json } from '../../kernel/json.ts';
import { inSegment, type Candidate } from '../candidates.ts';
import { readings } from '../fields/coerced.ts';
import { isUnlike, type Script, scriptOf } from '../fields/examples.ts';
import type { Field } from '../fields/fields.ts';
import { findingOf, textFinding, type Evidence, type Finding } from '../finding.ts';
import type { Source } from '../source.ts';
import { choicesIn, yesOrNo } from '../texts.ts';
import { dayInPeriod } from './days.ts';
import { isEmpty, segmentOf, type Cell } from './grid.ts';

/** How sure a value is whose column was told by its header. */
export type CellEvidence = Omit<Evidence, 'strictness'>;

/**
 * Cells of all kinds promise alike: a column of amounts has amounts in it whatever was asked for, so the form of one
 * says nothing. Right of the values of lists at 0.9 and above, over all kinds in sight: 824 of 904 by their form, 754
 * of 814 so; on twelve documents that nobody had looked at 160 of 200, and 96 of 100.
 */
export const STRICTNESS = 0.6;

/**
 * A table that has columns for a part of the members alone may be another one than the list asks for. Of 459 values at
 * 0.9 and above, on twelve documents that nobody had looked at, 160 of the 200 that stay there with this are right, and
 * 34 of the other 259.
 */
const UNTOLD_COSTS = 0.8;

/** `score`: how well its header names the column; `told`: the share of members that have one; 0..1. */
export const columnEvidence = (score: number, told: number): CellEvidence => ({
  label: Math.max(0, 0.5 + 0.4 * score - UNTOLD_COSTS * (1 - told)),
  margin: 0.3,
  agreement: 0,
});

/** The value of a cell for a field; undefined where the cell has none of its type. */
export function cellValue(field: Field, cell: Cell | undefined, reading: CellReading): Finding | undefined {
  for (const one of readings(field)) {
    const found = valueAs(one, cell, reading);
    if (found !== undefined) return found;
  }
  return undefined;
}

function valueAs(field: Field, cell: Cell | undefined, reading: CellReading): Finding | undefined {
  if (cell === undefined || isEmpty(cell)) return undefined;
  if (field.choices.length > 0) return chosen(whole(cell, reading), choicesIn(field, cell.text));
  if (field.type === 'boolean') return withValue(whole(cell, reading), yesOrNo(cell.text));
  if (isFreeText(field)) return whole(cell, reading);
  return typed(field, cell, reading);
}

/** Formats that the schema demands are typed: a cell's text is no address of a mail without them. */
const isFreeText = ({ type, kind }: Field): boolean =>
  type === 'string' && kind !== 'date' && kind !== 'email' && kind !== 'url';

export interface CellReading {
  readonly source: Source;
  readonly evidence: CellEvidence;
}

function whole(cell: Cell, { evidence }: CellReading): Finding | undefined {
  const segment = segmentOf(cell);
  return textFinding([{ segment, from: 0, to: segment.text.length }], {
    ...evidence,
    strictness: STRICTNESS,
  });
}

function typed(field: Field, cell: Cell, { source, evidence }: CellReading): Finding | undefined {
  const segment = segmentOf(cell);
  const kinds = kindsOf(field);
  const found = inSegment(segment, source.conventions).find(
    (one) => kinds.has(one.kind) && fillsCell(one, segment.text),
  );
  if (found !== undefined)
    return findingOf(
      { ...found, strictness: STRICTNESS },
      evidence,
      cell.isOut === true ? paid(found.value) : found.value,
    );
  const day = field.kind === 'date' ? dayInPeriod(segment.text, source) : undefined;
  return day === undefined ? undefined : withValue(whole(cell, { source, evidence }), day);
}

/** What stands in a column of debits is paid, whatever its sign. */
const paid = (value: Json): Json => (typeof value === 'number' && value > 0 ? -value : value);

/** One choice is the value; several are what a list in the row is made of. */
const chosen = (finding: Finding | undefined, [first, ...others]: readonly string[]): Finding | undefined =>
  withValue(finding, others.length === 0 ? first : [first ?? '', ...others].join(';'));

const withValue = (finding: Finding | undefined, value: string | boolean | undefined): Finding | undefined =>
  finding === undefined || value === undefined ? undefined : { ...finding, value };

const NUMBERS: ReadonlySet<string> = new Set(['number', 'percent']);
const kindsOf = ({ kind }: Field): ReadonlySet<string> =>
  kind === 'number' || kind === 'integer' || kind === 'percent' ? NUMBERS : new Set([kind]);

/** Letters that may stand beside a number in its cell: a unit, a currency, a mark of a footnote. */
const UNIT_LETTERS_MAX = 12;

/** Nothing but marks before the value, and little more than a unit after it: two numbers are two columns. */
function fillsCell({ from, to, kind }: Candidate, text: string): boolean {
  const before = text.slice(0, from).replace(/\p{Sc}/gu, '');
  if (kind === 'date' || kind === 'email' || kind === 'url') return true;
  if (/[\p{L}\p{N}]{4}/u.test(before) || /\p{N}/u.test(before)) return false;
  const after = text.slice(to);
  if (/^[^(]*\d/.test(after.replace(/\^\d+|[²³]/g, ''))) return false;
  return after.replace(/[^\p{L}]/gu, '').length <= UNIT_LETTERS_MAX;
}

/** What most cells of a column are. */
export interface Profile {
  /** Shares of the filled cells, 0..1. */
  readonly numbers: number;
  readonly dates: number;
  readonly emails: number;
  readonly words: number;
  /** With letters alone, and with digits alone. */
  readonly letters: number;
  readonly digits: number;
  /** Six digits and more, the first a zero: they name something, and are no amounts. */
  readonly padded: number;
  /** Different texts, as a share of the filled cells. */
  readonly distinct: number;
  readonly filled: number;
}

/** Cells of a column that are looked at. */
const SAMPLE = 60;

/** What a cell may be; columns are looked at below every row that may be their header. */
const CELL_KINDS = new WeakMap<Cell, ReadonlySet<string>>();

function kindsIn(cell: Cell, source: Source): ReadonlySet<string> {
  const segment = segmentOf(cell);
  if (dayInPeriod(segment.text, source) !== undefined) return DAY;
  const filling = inSegment(segment, source.conventions).filter((one) => fillsCell(one, segment.text));
  return new Set(filling.map(({ kind }) => kind));
}

const DAY: ReadonlySet<string> = new Set(['date']);

function kindsOfCell(cell: Cell, source: Source): ReadonlySet<string> {
  const known = CELL_KINDS.get(cell) ?? kindsIn(cell, source);
  CELL_KINDS.set(cell, known);
  return known;
}

export function profileOf(cells: readonly (Cell | undefined)[], source: Source): Profile {
  const step = Math.max(1, Math.ceil(cells.length / SAMPLE));
  const sample = cells.filter((_, i) => i % step === 0);
  const filled = sample.filter((cell): cell is Cell => !isEmpty(cell));
  const share = (is: (cell: Cell) => boolean): number =>
    filled.length === 0 ? 0 : filled.filter(is).length / filled.length;
  const has = (cell: Cell, kinds: readonly string[]): boolean => {
    const known = kindsOfCell(cell, source);
    return kinds.some((kind) => known.has(kind));
  };
  const scripts = filled.map(({ text }) => scriptOf(text));
  const written = (...as: readonly Script[]): number =>
    filled.length === 0
      ? 0
      : scripts.filter((one) => as.some((other) => other === one)).length / filled.length;
  return {
    numbers: share((cell) => has(cell, ['number', 'percent'])),
    dates: share((cell) => has(cell, ['date'])),
    emails: share((cell) => has(cell, ['email', 'url'])),
    words: written('letters', 'both'),
    letters: written('letters'),
    digits: written('digits'),
    padded: share(({ text }) => PADDED.test(text.trim())),
    distinct: filled.length === 0 ? 0 : new Set(filled.map(({ text }) => text)).size / filled.length,
    filled: sample.length === 0 ? 0 : filled.length / sample.length,
  };
}

/** 0..1: what a column holds may be what the field asks for. */
export const typeFit = (field: Field, profile: Profile): number =>
  readings(field).reduce((best, one) => Math.max(best, fitAs(one, profile)), 0);

const PADDED = /^0\d{5,}$/;

/** Whether a column that no header names may be a field's: long amounts are not written with zeros before them. */
export const mayBeUnnamed = (field: Field, profile: Profile): boolean =>
  typeFit(field, profile) >= 1 &&
  (profile.padded < 0.5 || (field.type !== 'number' && field.type !== 'integer'));

function fitAs(field: Field, profile: Profile): number {
  const { numbers, dates, emails, filled } = profile;
  if (filled === 0) return 0;
  if (field.type === 'number' || field.type === 'integer') return fitOf(numbers);
  if (field.kind === 'date') return fitOf(Math.max(dates, field.type === 'string' ? 0.3 : 0));
  if (field.kind === 'email' || field.kind === 'url') return fitOf(emails);
  return fitOf(likeExamples(field, profile));
}

/** The share of a column's cells that may be like the examples that the schema gives. */
function likeExamples({ examples }: Field, { letters, digits }: Profile): number {
  if (isUnlike('a', examples)) return 1 - letters;
  return isUnlike('1', examples) ? 1 - digits : 1;
}

/** A typed column may have some other cells: sub-headings, remarks. */
const fitOf = (share: number): number => (share < 0.3 ? 0 : Math.min(1, 0.4 + share));
