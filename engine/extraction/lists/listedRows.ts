import { once } from '../../kernel/once.ts';
import type { Generator, Outcome } from '../../ports/why.ts';
import { authorRows, factFor } from '../facts/bylines.ts';
import { invoiceRows } from '../facts/invoiceFacts.ts';
import type { Field } from '../fields/fields.ts';
import { findingOf, type Finding, type Signed, type RowFindings } from '../finding.ts';
import { areGoods } from '../grids/goods.ts';
import { gridRows, lineRows } from '../grids/gridRows.ts';
import { contactList } from '../parts/contacts.ts';
import { listInProse } from '../prose/proseValues.ts';
import { LABELLED, ranked } from '../ranking.ts';
import { tickedChoices } from '../singles/ticked.ts';
import { settled, type Off } from './balances.ts';
import { calledRows } from './calledRows.ts';
import { citedRows, citedWorks } from './citedWorks.ts';
import { datedEntries } from './datedEntries.ts';
import { findItems } from './itemRows.ts';
import { labelledRows, listedTexts } from './labelledLists.ts';
import { numberedRows } from './numberedRows.ts';
import { recordRows } from './recordRows.ts';
import type { Listed } from './rowMembers.ts';
import type { SignedRow } from './rowValues.ts';
import type { Source } from '../source.ts';
import { typedLines } from './typedLines.ts';
import { figureMembers, figureRows } from '../statements/figureLines.ts';
import { statementMembers, statementRows } from '../statements/statementRows.ts';
import { findTexts } from '../texts.ts';

/** A way to the items of a list: undefined where it says nothing, so that the next is tried. */
interface ListWay<Item> {
  readonly by: Generator;
  readonly find: () => readonly Item[] | undefined;
}

/** What a way of a list came to: how many items it found. */
export interface TriedWay {
  readonly by: Generator;
  readonly items: number;
  readonly outcome: Outcome;
}

/** The items of a list, and the ways that they were looked for in. */
export interface ListItems<Item> {
  readonly items: readonly Item[];
  /** Balances of an account that do not come out by its rows. */
  readonly off?: readonly Off[];
  readonly tried: readonly TriedWay[];
}

/** Tries the ways in their order; the first that says something decides. */
function firstOf<Item, As>(
  ways: readonly ListWay<Item>[],
  { without }: Source,
  sign: (item: Item, by: Generator) => As,
): ListItems<As> {
  const tried: TriedWay[] = [];
  let found: readonly As[] | undefined;
  for (const { by, find } of ways.filter((way) => without?.has(way.by) !== true)) {
    if (found !== undefined) tried.push({ by, items: 0, outcome: 'too_late' });
    else {
      found = find()?.map((item) => sign(item, by));
      const items = found?.length ?? 0;
      tried.push({ by, items, outcome: items > 0 ? 'won' : 'empty' });
    }
  }
  return { items: found ?? [], tried };
}

const someOf = <Item>(items: readonly Item[] | undefined): readonly Item[] | undefined =>
  items === undefined || items.length === 0 ? undefined : items;

/** A row whose findings one way made. */
export const signedRow = (row: RowFindings, by: Generator): SignedRow =>
  new Map([...row].map(([pointer, finding]) => [pointer, { ...finding, by: finding.by ?? by }]));

/** The rows of a list, by the way that answers it best. */
export function listedRows(listed: Listed, source: Source): ListItems<SignedRow> {
  const { items, tried } = rowsByWays(listed, source);
  return { ...settled(countsApart(items, listed.fields), listed.fields, source), tried };
}

/** "2 Almond slice": how many of what a receipt's line has. */
const COUNTED = /^(\d{1,3})\s?[x×]?\s+(?=\p{L})/iu;
/** So many of the lines begin with a count. */
const COUNTED_SHARE = 0.2;

/** The rows with the counts that their texts begin with, where no column has counts; numbers in order are no counts. */
function countsApart(rows: readonly SignedRow[], fields: readonly Field[]): readonly SignedRow[] {
  const [count, name] = ['quantity', 'description'].map((id) =>
    fields.find(({ concept }) => concept?.id === id),
  );
  if (count === undefined || name === undefined || rows.some((row) => row.has(count.pointer))) return rows;
  const counts = rows.map((row) => COUNTED.exec(row.get(name.pointer)?.text ?? ''));
  const numbers = counts.flatMap((match) => (match === null ? [] : [Number(match[1])]));
  const areInOrder = numbers.length > 1 && numbers.every((one, i) => one === (numbers[0] ?? 0) + i);
  if (areInOrder || numbers.length < 2 || numbers.length < COUNTED_SHARE * rows.length) return rows;
  return rows.map((row, i) => {
    const [match, finding] = [counts[i], row.get(name.pointer)];
    if (match === null || match === undefined || finding === undefined) return row;
    const text = finding.text.slice(match[0].length);
    const [first, ...words] = finding.words;
    const quantity = {
      ...finding,
      value: Number(match[1]),
      text: match[1] ?? '',
      words: first === undefined ? [] : [first],
    };
    return new Map([
      ...row,
      [count.pointer, quantity],
      [name.pointer, { ...finding, value: text, text, words }],
    ]);
  });
}

/** Members of a financial statement have one way alone. */
function rowsByWays(listed: Listed, source: Source): ListItems<SignedRow> {
  const members = statementMembers(listed.fields);
  if (members !== undefined)
    return firstOf(
      [{ by: 'statements', find: () => statementRows(listed, members, source) }],
      source,
      signedRow,
    );
  const figures = figureMembers(listed.fields);
  const lines: readonly RowWay[] =
    figures === undefined ? [] : [{ by: 'statements', rows: () => figureRows(listed, figures, source) }];
  const ways = [...lines, ...rowWays(listed)];
  return firstOf(
    ways.map(({ by, rows }) => ({ by, find: () => someOf(rows(listed, source)) })),
    source,
    signedRow,
  );
}

interface RowWay {
  readonly by: Generator;
  readonly rows: (listed: Listed, source: Source) => readonly RowFindings[];
}

const recordsFor = once((source: Source) => once((fields: readonly Field[]) => recordRows(fields, source)));

const WORKS: RowWay = { by: 'references', rows: citedRows };
const TABLES: RowWay = { by: 'tables', rows: (listed, source) => gridRows(listed, source).rows };
const LINES: RowWay = {
  by: 'lines',
  rows: (listed, source) => {
    const items = findItems(listed.fields, source);
    return items.length > 0 ? items : lineRows(listed, source);
  },
};
const LABELS: RowWay = { by: 'listed', rows: labelledRows };
const RECORDS: readonly RowWay[] = [
  { by: 'records', rows: ({ fields }, source) => recordsFor(source)(fields) },
  { by: 'entries', rows: datedEntries },
  LINES,
];
const NUMBERED: RowWay = { by: 'numbered', rows: ({ fields }, source) => numberedRows(fields, source) };
const CALLED: RowWay = { by: 'called', rows: calledRows };
const TYPED: RowWay = { by: 'programme', rows: typedLines };

/** Rows that hold rows are told by tables alone: other ways know of no groups. */
function rowWays({ fields, outer }: Listed): readonly RowWay[] {
  if (outer.size > 0) return [WORKS, TABLES];
  if (areGoods(fields)) return [WORKS, TABLES, LINES, CALLED];
  return fields.length === 1
    ? [WORKS, TABLES, LABELS, ...RECORDS, NUMBERED, TYPED]
    : [WORKS, TABLES, CALLED, ...RECORDS, LABELS, NUMBERED, TYPED];
}

/** The same with the lines of an invoice that is data, and the authors of a paper, before all else. */
export function listOfRows(listed: Listed, source: Source): ListItems<SignedRow> {
  const known = firstOf(
    [
      { by: 'embedded_xml', find: () => someOf(invoiceRows(listed, source)) },
      { by: 'byline', find: () => someOf(authorRows(listed, source)) },
    ],
    source,
    signedRow,
  );
  return known.items.length > 0 ? known : listedRows(listed, source);
}

const signedFinding = (finding: Finding, by: Generator): Signed => ({ ...finding, by });

/** The values of a list of texts, numbers or days. */
export function listedValues(field: Field, source: Source): ListItems<Signed> {
  const fact = factFor(field, source);
  const by = fact?.findings[0]?.by ?? 'mail';
  let texts: readonly Finding[] | undefined;
  const isText = field.type === 'string' && field.kind === 'text' && source.without?.has('listed') !== true;
  const ways: readonly ListWay<Finding>[] = [
    { by: 'boxes', find: () => tickedChoices(field, source) },
    { by, find: () => fact?.findings },
    { by: 'references', find: () => someOf(citedWorks(field, source)) },
    { by: 'clauses', find: () => (field.type === 'string' ? someOf(listInProse(field, source)) : undefined) },
    { by: 'listed', find: () => someOf((texts = isText ? listedTexts(field, source) : undefined)) },
    { by: 'concepts', find: () => (texts === undefined ? someOf(allOf(field, source)) : undefined) },
    { by: 'contacts', find: () => someOf(contactList(field, source)) },
  ];
  return firstOf(ways, source, signedFinding);
}

function allOf(field: Field, source: Source): readonly Finding[] {
  if (field.kind === 'text' || field.kind === 'party') return findTexts(field, source);
  return ranked(field, source)
    .filter(({ score }) => score >= LABELLED)
    .sort((a, b) => a.candidate.segment.index - b.candidate.segment.index)
    .map(({ candidate, score }) => findingOf(candidate, { label: score, margin: 0.2, agreement: 0 }));
}
