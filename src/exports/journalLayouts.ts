import texts from './journalLayouts.json' with { type: 'json' };
import { z } from 'zod';
import { monthBounds } from '../../domain/books.ts';
import { decimalOf, divideHalfEven } from '../../domain/kernel/amounts.ts';
import {
  inCents,
  type JournalSettings,
  type Line,
  linesOf,
  type Pair,
  pairsOf,
} from '../../domain/journal.ts';
import type { JournalEntry } from '../../projections/journal.ts';

/** One row of a file: a line of an entry, or with DATEV an amount from one account to another. */
interface LaidRow {
  readonly entry: JournalEntry;
  /** Of the entry, in the order of the file: `202611-17`. */
  readonly number: string;
  readonly line: Line | undefined;
  readonly pair: Pair | undefined;
  readonly decimal: string;
}

/** Micro-USD that are whole cents, as text with two decimals. */
const cents = (micro: bigint, decimal: string): string =>
  decimalOf(divideHalfEven(micro, 10_000n), 2).replace('.', decimal);

const sideOf = (amount: bigint | undefined, decimal: string): string =>
  amount === undefined || amount === 0n ? '' : cents(amount, decimal);

const dayParts = ({ entry }: LaidRow) => {
  const [year = '', month = '', day = ''] = entry.day.split('-');
  return { year, month, day };
};

/** What a column can say of a row. One more is one entry here. */
const ROW_FACTS = {
  number: ({ number }) => number,
  tenant: ({ entry }) => entry.tenant_id,
  stream: ({ entry }) => entry.stream,
  position: ({ entry }) => String(entry.position),
  place: ({ entry }) => `${entry.stream} ${String(entry.position)}`,
  text: ({ entry }) => `${entry.kind} ${entry.tenant_id}`.slice(0, 60),
  narration: ({ entry, number }) => `${number} ${entry.kind} ${entry.tenant_id}`,
  account: ({ line }) => line?.code ?? '',
  account_name: ({ line }) => line?.name ?? '',
  debit: ({ line, decimal }) => sideOf(line?.debit, decimal),
  credit: ({ line, decimal }) => sideOf(line?.credit, decimal),
  signed_amount: ({ line, decimal }) => cents((line?.debit ?? 0n) - (line?.credit ?? 0n), decimal),
  amount: ({ pair, decimal }) => cents(pair?.amount ?? 0n, decimal),
  debit_account: ({ pair }) => pair?.debit.code ?? '',
  credit_account: ({ pair }) => pair?.credit.code ?? '',
  day_month: (row) => `${dayParts(row).day}${dayParts(row).month}`,
  date_day_first: (row) => `${dayParts(row).day}/${dayParts(row).month}/${dayParts(row).year}`,
  date_month_first: (row) => `${dayParts(row).month}/${dayParts(row).day}/${dayParts(row).year}`,
} as const satisfies Readonly<Record<string, (row: LaidRow) => string>>;

/** The file as a whole. */
interface LaidFile {
  readonly month: string;
  readonly settings: JournalSettings;
}

const digitsOf = (time: string): string => time.replaceAll(/\D/g, '');

/** The fiscal year that a month lies in begins in the last such month. */
const fiscalYearOf = ({ month, settings: { datev } }: LaidFile): string => {
  const [year, index] = [Number(month.slice(0, 4)), Number(month.slice(5))];
  const begun = index >= datev.fiscal_year_month ? year : year - 1;
  return `${String(begun).padStart(4, '0')}${String(datev.fiscal_year_month).padStart(2, '0')}01`;
};

/** What the line above the columns can say: nothing of the moment, for a closed month has the same file each time. */
const FILE_FACTS = {
  made_at: ({ month }) => digitsOf(monthBounds(month).to),
  consultant: ({ settings }) => String(settings.datev.consultant),
  client: ({ settings }) => String(settings.datev.client),
  fiscal_year: fiscalYearOf,
  account_length: ({ settings }) => String(settings.accounts.deferred_revenue.code.length),
  first_day: ({ month }) => digitsOf(monthBounds(month).from.slice(0, 10)),
  last_day: ({ month }) => digitsOf(monthBounds(month).to.slice(0, 10)),
  title: ({ month }) => `Quire ${month}`,
} as const satisfies Readonly<Record<string, (file: LaidFile) => string>>;

type RowFact = keyof typeof ROW_FACTS;
type FileFact = keyof typeof FILE_FACTS;

const cellOf = <Fact extends string>(facts: readonly Fact[]) =>
  z.strictObject({
    fact: z.enum(facts).optional(),
    constant: z.string().optional(),
    /** Text, which always has quotes. */
    quoted: z.boolean().default(false),
  });

const rowFacts = Object.keys(ROW_FACTS) as readonly RowFact[];
const fileFacts = Object.keys(FILE_FACTS) as readonly FileFact[];

const layout = z.strictObject({
  /** Name and version of the format, and where it is described. */
  format: z.string(),
  source: z.url(),
  /** Name of the file; `{month}` is replaced. */
  file: z.string(),
  separator: z.enum([',', ';']),
  decimal: z.enum(['.', ',']),
  bom: z.boolean(),
  rows: z.enum(['lines', 'pairs']),
  /** A line above the names of the columns; empty: there is none. */
  header: z.array(cellOf(fileFacts)),
  columns: z.array(cellOf(rowFacts).extend({ name: z.string() })),
});

type Layout = z.output<typeof layout>;

/** Layouts for other programs; one more is one entry in the file. */
export const JOURNAL_LAYOUTS = ['datev', 'xero', 'quickbooks'] as const;
export type JournalLayout = (typeof JOURNAL_LAYOUTS)[number];

const LAYOUTS: Readonly<Record<JournalLayout, Layout>> = z
  .strictObject({ datev: layout, xero: layout, quickbooks: layout })
  .parse(texts);

/** Name of the file of a month. */
export const layoutFile = (name: JournalLayout, month: string): string =>
  LAYOUTS[name].file.replace('{month}', month);

/** Name and version of a layout's format. */
export const layoutFormat = (name: JournalLayout): string => LAYOUTS[name].format;

const NEEDS_QUOTES = /["\r\n]/;

/** A cell: what it says, and whether it has quotes in any case. */
type Cell = readonly [value: string, isQuoted: boolean];

const lineWith = (separator: string, cells: readonly Cell[]): string => {
  const texts = cells.map(([value, isQuoted]) =>
    isQuoted || value.includes(separator) || NEEDS_QUOTES.test(value)
      ? `"${value.replaceAll('"', '""')}"`
      : value,
  );
  return `${texts.join(separator)}\r\n`;
};

/** Rows of one entry: amounts are whole cents, and balance. */
const rowsOf = (
  { rows, decimal }: Layout,
  {
    entry,
    number,
    pairs,
  }: { readonly entry: JournalEntry; readonly number: string; readonly pairs: readonly Pair[] },
): readonly LaidRow[] =>
  rows === 'pairs'
    ? pairs.map((pair) => ({ entry, number, decimal, pair, line: undefined }))
    : linesOf(pairs).map((line) => ({ entry, number, decimal, line, pair: undefined }));

/**
 * A journal in the layout of another program: first `start`, then the text of each entry in their order. Amounts are in
 * cents; an entry that comes to less has no row, and its rest is in the next one between the same accounts.
 */
export const laidOut = (name: JournalLayout, file: LaidFile) => {
  const chosen = LAYOUTS[name];
  const { header, columns, separator, bom } = chosen;
  const rounded = inCents();
  let [count, rows, debit] = [0, 0, 0n];
  const above = header.map(({ fact, constant = '', quoted }): Cell => [
    fact === undefined ? constant : FILE_FACTS[fact](file),
    quoted,
  ]);
  const names = columns.map((column): Cell => [column.name, false]);
  const rowText = (row: LaidRow): string =>
    lineWith(
      separator,
      columns.map(({ fact, constant = '', quoted }): Cell => [
        fact === undefined ? constant : ROW_FACTS[fact](row),
        quoted,
      ]),
    );
  const lines = [...(above.length === 0 ? [] : [above]), names].map((cells) => lineWith(separator, cells));
  return {
    start: `${bom ? '\uFEFF' : ''}${lines.join('')}`,
    textOf: (entry: JournalEntry): string => {
      const pairs = rounded(pairsOf(file.settings, entry));
      if (pairs.length === 0) return '';
      count += 1;
      const number = `${file.month.replace('-', '')}-${String(count)}`;
      const laid = rowsOf(chosen, { entry, number, pairs });
      rows += laid.length;
      debit += laid.reduce((sum, { line, pair }) => sum + (line?.debit ?? pair?.amount ?? 0n), 0n);
      return laid.map(rowText).join('');
    },
    /** Rows so far, and the sum of their debits, micro-USD. */
    totals: () => ({ rows, debit }),
  };
};
