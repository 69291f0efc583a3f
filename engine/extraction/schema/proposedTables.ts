import type { Block } from '../../document/document.ts';
import type { TableBlock } from '../../document/document.ts';
import type { LabelMatcher } from '../words/says.ts';
import { labelWords } from '../words/labelWords.ts';

/** What a table proposes: fields of its own, and the columns of its records. */
export interface ProposedTable {
  readonly pairs: readonly (readonly [label: string, value: string])[];
  readonly columns: readonly { readonly label: string; readonly values: readonly string[] }[];
  /** What its list is called. */
  readonly title: string;
}

type Texts = readonly (readonly string[])[];

/** Rows below records that sum them up. */
const SUMS_MAX = 12;
const KNOWN = 0.8;
const SUMS = [
  'grand_total',
  'net_total',
  'tax_total',
  'line_sum',
  'amount_due',
  'paid_amount',
  'discount',
  'shipping',
];
const TITLE_WORDS_MAX = 4;
const FIRST = 'Items';

/** What each table of a document proposes; one that goes on with another, or repeats its header, adds nothing. */
export function partsOf(blocks: readonly Block[], labels: LabelMatcher): ReadonlyMap<Block, ProposedTable> {
  const parts = new Map<Block, ProposedTable>();
  const headers = new Set<string>();
  for (const [i, block] of blocks.entries()) {
    if (block.kind !== 'table') continue;
    const title = headers.size === 0 ? FIRST : titleAbove(blocks[i - 1], headers.size);
    const part = partOf(block, title, labels);
    const header = part.columns.map(({ label }) => label).join('\n');
    const isNew = header !== '' && !headers.has(header);
    if (isNew) headers.add(header);
    parts.set(block, isNew ? part : { ...part, columns: [] });
  }
  return parts;
}

/** A short heading right above a table names it; others are told apart by their numbers. */
function titleAbove(block: Block | undefined, count: number): string {
  const text = block === undefined || block.kind === 'table' ? '' : block.text.trim();
  const isTitle = /^\p{L}[^.:;\n\d]{2,40}$/u.test(text) && text.split(/\s+/).length <= TITLE_WORDS_MAX;
  return isTitle ? text : `${FIRST} ${String(count + 1)}`;
}

const textsOf = ({ rows, columns, cells }: TableBlock): Texts => {
  const found = Array.from({ length: rows }, () => Array<string>(columns).fill(''));
  for (const { row, column, text } of cells) {
    const own = found[row];
    if (own !== undefined) own[column] = text.replace(/\s+/g, ' ').trim();
  }
  return found;
};

function partOf(table: TableBlock, title: string, labels: LabelMatcher): ProposedTable {
  const rows = textsOf(table);
  if (isForm(rows)) return { pairs: [], columns: [], title };
  const pairs = pairsOf(rows, table);
  if (pairs.length > 0) return { pairs, columns: [], title };
  const [header = [], ...below] = rows.slice(Math.max(0, table.headerRows - 1));
  if (table.headerRows === 0 || !isHeader(header)) return { pairs: [], columns: [], title };
  const sums = sumsOf(below, labels);
  const records = below.slice(0, below.length - sums.length);
  const columns = header.map((label, at) => ({ label, values: records.map((record) => record[at] ?? '') }));
  const named = columns.filter(({ label, values }) => label !== '' && values.some((value) => value !== ''));
  return { pairs: sums.flatMap(sumPair), columns: named, title };
}

/** So many of the cells of a form end in a colon: its labels stand in any of its columns. */
const COLONS = 0.25;

function isForm(rows: Texts): boolean {
  const cells = rows.flat().filter((text) => text !== '');
  return (
    (rows[0]?.length ?? 0) > 2 && cells.filter((text) => /[:：]$/.test(text)).length >= COLONS * cells.length
  );
}

/** Labels with their values, where a table has nothing else. */
function pairsOf(rows: Texts, { columns, headerRows }: TableBlock): ProposedTable['pairs'] {
  const isOfPairs = columns === 2 ? headerRows === 0 || arePairs(rows) : areSideBySide(rows);
  const pairs = isOfPairs ? rows.flatMap(pairsAcross) : [];
  return pairs.flatMap(([label = '', value = '']) => (value === '' ? [] : [[label, value] as const]));
}

/** A row's cells as pairs of label and value. */
const pairsAcross = (row: readonly string[]): Texts =>
  row.flatMap((label, i) => (i % 2 === 0 ? [[label, row[i + 1] ?? '']] : []));

/** Every other column has labels, no two alike; the others have several forms each, below what may be their heads. */
function areSideBySide(rows: Texts): boolean {
  const [first = [], ...below] = rows;
  if (first.length % 2 === 1) return false;
  const labels = rows.flatMap(pairsAcross).flatMap(([label = '']) => (label === '' ? [] : [label]));
  const columns = first.flatMap((_cell, at) =>
    at % 2 === 0 ? [] : [new Set(below.flatMap((row) => (row[at] ? [formOf(row[at])] : [])))],
  );
  return (
    rows.length <= PAIRS_MAX &&
    new Set(labels).size === labels.length &&
    labels.every((label) => kindOf(label) !== 'number' && !hasDigits(label)) &&
    columns.every((forms) => forms.size > 1) &&
    columns.some((forms) => forms.size >= MIXED)
  );
}

/** Values of labels have so many forms, columns of records fewer. */
const MIXED = 3;
const FORMS: readonly (readonly [form: string, RegExp])[] = [
  ['date', /^\d{1,4}([./-])\d{1,2}\1\d{1,4}$/],
  ['mail', /@/],
  ['money', /^\p{Sc}|\p{Sc}$/u],
];

const formOf = (text: string): string => FORMS.find(([, form]) => form.test(text))?.[0] ?? kindOf(text);

const hasDigits = (text: string): boolean => /\d{2}/.test(text);

/** A day in digits, or a number of five and more: no header has it. */
const VALUE = /\d[./-]\d{1,2}[./-]\d|^\D?\d[\d.,]{4,}$/;

/** Words rather than values. */
const isHeader = (cells: readonly string[]): boolean => {
  const filled = cells.filter((text) => text !== '');
  return (
    filled.length > 1 &&
    !filled.some((text) => VALUE.test(text)) &&
    2 * filled.filter((text) => /\p{L}/u.test(text) && !hasDigits(text)).length > filled.length
  );
};

/** Longer tables of two columns are records. */
const PAIRS_MAX = 12;

/** Labels with colons, or a few rows whose values are not all numbers. */
function arePairs(rows: Texts): boolean {
  const labels = rows.map(([label = '']) => label).filter((label) => label !== '');
  if (labels.filter((label) => /[:：]$/.test(label)).length > 0.6 * labels.length) return true;
  const values = rows.map(([, value = '']) => value).filter((value) => value !== '');
  if (rows.length <= PAIRS_MAX && new Set(values.slice(1).map(formOf)).size >= MIXED) return true;
  const isOfNumbers = values.slice(1).every((value) => kindOf(value) === 'number');
  return !isOfNumbers && rows.length <= PAIRS_MAX && labels.every((label) => !hasDigits(label));
}

const kindOf = (text: string): string =>
  /\p{L}/u.test(text) ? (/\d/.test(text) ? 'code' : 'text') : 'number';

/** The rows at the end that have a sum's label and an amount. */
function sumsOf(rows: Texts, labels: LabelMatcher): Texts {
  let from = rows.length;
  while (from > 0 && rows.length - from < SUMS_MAX && isSum(rows[from - 1] ?? [], labels)) from -= 1;
  return rows.slice(from);
}

function isSum(row: readonly string[], labels: LabelMatcher): boolean {
  const [label] = labelled(row);
  if (label === undefined || row.filter((text) => text !== '').length > Math.max(3, row.length - 2))
    return false;
  const words = labelWords(label.replace(/[\d.,%()]+/g, ' '));
  return SUMS.some((id) => labels.concept(id, words) >= KNOWN);
}

/** The first text of a row and its last number. */
function labelled(row: readonly string[]): readonly [string, string] | readonly [] {
  const label = row.find((text) => /\p{L}{2}/u.test(text));
  const value = row.findLast((text) => /\d/.test(text) && !/\p{L}{4}/u.test(text));
  return label === undefined || value === undefined || label === value ? [] : [label, value];
}

/** "VAT 20%" is the tax: its rate is no part of its name. */
function sumPair(row: readonly string[]): readonly (readonly [string, string])[] {
  const [label, value] = labelled(row);
  if (label === undefined || value === undefined) return [];
  return [[label.replace(/ ?\(?(?<![\d.,])[\d.,]{1,8} ?%\)?/g, '').trim(), value]];
}
