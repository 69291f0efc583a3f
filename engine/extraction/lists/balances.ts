import type { Field } from '../fields/fields.ts';
import { asks } from '../fields/wants.ts';
import type { Signed } from '../finding.ts';
import type { Source } from '../source.ts';
import { labelWords } from '../words/labelWords.ts';
import { lexicon } from '../words/lexicon.ts';
import type { SignedRow } from './rowValues.ts';

/** A balance that is printed, and what comes out by what stands before it. */
export interface Off {
  readonly printed: Signed;
  readonly expected: number;
}

/** The movements of an account, and the balances among them that do not come out. */
export interface Settled {
  readonly items: readonly SignedRow[];
  readonly off: readonly Off[];
}

interface Account {
  readonly amount: Field | undefined;
  readonly debit: Field | undefined;
  readonly credit: Field | undefined;
  readonly balance: Field | undefined;
  readonly texts: readonly Field[];
}

/** Half a cent and what floating point adds. */
const TOLERANCE = 0.0051;
const { debits, credits, balances } = lexicon.rows;

/** The members of a list of movements: a day and an amount, or amounts of two sides; undefined for other lists. */
function accountOf(fields: readonly Field[]): Account | undefined {
  const numbers = fields.filter(({ type }) => type === 'number');
  const named = (words: { has(word: string): boolean }): Field | undefined =>
    numbers.find(({ terms }) => terms.name.some((word) => words.has(word)));
  const [debit, credit, balance] = [named(debits), named(credits), named(balances)];
  const sides = [debit, credit, balance];
  const amount = numbers.find((field) => !sides.includes(field) && asks(field, 'figure'));
  const hasDay = fields.some(({ kind }) => kind === 'date');
  if (!hasDay || (amount === undefined && (debit === undefined || credit === undefined))) return undefined;
  const texts = fields.filter(({ type, kind }) => type === 'string' && kind !== 'date');
  return { amount, debit, credit, balance, texts };
}

const numberAt = (row: SignedRow, field: Field | undefined): number | undefined => {
  const value = field === undefined ? undefined : row.get(field.pointer)?.value;
  return typeof value === 'number' ? value : undefined;
};

/** What a row adds to the balance. */
function movedBy(row: SignedRow, { amount, debit, credit }: Account): number {
  const own = numberAt(row, amount);
  return own ?? (numberAt(row, credit) ?? 0) - Math.abs(numberAt(row, debit) ?? 0);
}

/** Words beside those that name a balance: "Alter Kontostand vom". */
const MORE_WORDS_MAX = 2;
const CALLED = 0.9;
type Balance = 'opening_balance' | 'closing_balance';

/** Which balance a row tells instead of a movement. */
function balanceOf(row: SignedRow, { texts }: Account, { labels }: Source): Balance | undefined {
  const runs = texts.flatMap(({ pointer }) => runsOf(row.get(pointer)?.text ?? ''));
  const ids = ['opening_balance', 'closing_balance'] as const;
  return ids.find((id) => runs.some((words) => labels.concept(id, words) >= CALLED));
}

/** The words of a text, and what they begin with. */
function runsOf(text: string): readonly (readonly string[])[] {
  const words = labelWords(text.replace(/\d[\d.,/-]*/g, ' '));
  const least = Math.max(1, words.length - MORE_WORDS_MAX);
  return words.flatMap((_, i) => (i + 1 < least ? [] : [words.slice(0, i + 1)]));
}

/** Movements without the lines of balances among them, signed as their balances say, and what does not come out. */
export function settled(rows: readonly SignedRow[], fields: readonly Field[], source: Source): Settled {
  const account = accountOf(fields);
  if (account === undefined || rows.length < 2) return { items: rows, off: [] };
  const told = rows.map((row) => balanceOf(row, account, source));
  const moves = rows.filter((_, i) => told[i] === undefined);
  if (moves.length === 0) return { items: rows, off: [] };
  const end = (id: Balance): Signed | undefined => {
    const row = rows[told.indexOf(id)];
    return row === undefined ? undefined : endOf(row, account);
  };
  const ends = { opening: end('opening_balance'), closing: end('closing_balance') };
  const items = withSigns(moves, { account, ends, source });
  return { items, off: offOf(items, account, ends) };
}

const endOf = (row: SignedRow, { amount, debit, credit, balance }: Account): Signed | undefined =>
  [balance, amount, credit, debit].flatMap((field) => row.get(field?.pointer ?? '') ?? [])[0];

interface Ends {
  readonly opening: Signed | undefined;
  readonly closing: Signed | undefined;
}

const valueOf = (finding: Signed | undefined): number | undefined =>
  typeof finding?.value === 'number' ? finding.value : undefined;

const isNear = (one: number, other: number): boolean => Math.abs(one - other) <= TOLERANCE;

interface Signing {
  readonly account: Account;
  readonly ends: Ends;
  readonly source: Source;
}

/** So many of the steps from balance to balance must be the amounts between them. */
const STEPS_SHARE = 0.8;
const STEPS_MIN = 2;

/** Amounts that are all printed without a sign have that of the step between the balances beside them. */
function withSigns(rows: readonly SignedRow[], { account, ends, source }: Signing): readonly SignedRow[] {
  const { amount, balance } = account;
  const areSigned = rows.some((row) => movedBy(row, account) < 0);
  if (amount === undefined || balance === undefined || areSigned) return rows;
  const balances = rows.map((row) => numberAt(row, balance));
  const before = balances.map((_, i) => (i > 0 ? balances[i - 1] : startOf(rows, { account, ends, source })));
  const out = rows.map((row, i): boolean | undefined => {
    const [from, to, size] = [before[i], balances[i], numberAt(row, amount)];
    if (from === undefined || to === undefined || size === undefined) return undefined;
    return isNear(from - size, to) ? true : isNear(from + size, to) ? false : undefined;
  });
  const steps = out.filter((one) => one !== undefined).length;
  if (steps < STEPS_MIN || steps < STEPS_SHARE * (rows.length - 1)) return rows;
  return rows.map((row, i) => (out[i] === true ? negated(row, amount) : row));
}

function negated(row: SignedRow, { pointer }: Field): SignedRow {
  const own = row.get(pointer);
  return typeof own?.value === 'number' ? new Map([...row, [pointer, { ...own, value: -own.value }]]) : row;
}

/** The balance before the first row: as a line tells it, or the only number of the document that it can be. */
function startOf([first]: readonly SignedRow[], { account, ends, source }: Signing): number | undefined {
  const told = valueOf(ends.opening);
  if (told !== undefined || first === undefined) return told;
  const [to = 0, size = 0] = [numberAt(first, account.balance), numberAt(first, account.amount)];
  const numbers = source.candidates.get('number') ?? [];
  const may = [to + size, to - size].filter((from) =>
    numbers.some(({ value }) => isNear(Number(value), from)),
  );
  return may.length === 1 ? may[0] : undefined;
}

/** The balances that do not come out; where few of them do, the rows are no account. */
function offOf(rows: readonly SignedRow[], account: Account, { opening, closing }: Ends): readonly Off[] {
  if (account.balance === undefined) {
    const [from, to] = [valueOf(opening), valueOf(closing)];
    if (from === undefined || to === undefined || closing === undefined) return [];
    const expected = rows.reduce((sum, row) => sum + movedBy(row, account), from);
    return isNear(expected, to) ? [] : [{ printed: closing, expected: rounded(expected) }];
  }
  const start = valueOf(opening);
  const ways = [stepsOf(rows, account, start), stepsOf(rows.toReversed(), account, start)];
  const best = ways.reduce((most, way) => (way.right > most.right ? way : most));
  return best.right >= STEPS_MIN && best.off.length <= best.right ? best.off : [];
}

/** Cents, where floating point adds more. */
const rounded = (value: number): number => Math.round(value * 1e4) / 1e4;

function stepsOf(
  rows: readonly SignedRow[],
  account: Account,
  start: number | undefined,
): { readonly right: number; readonly off: readonly Off[] } {
  const off: Off[] = [];
  let [right, expected] = [0, start];
  for (const row of rows) {
    expected = expected === undefined ? undefined : expected + movedBy(row, account);
    const printed = row.get(account.balance?.pointer ?? '');
    const value = valueOf(printed);
    if (printed === undefined || value === undefined) continue;
    if (expected !== undefined && isNear(expected, value)) right += 1;
    else if (expected !== undefined) off.push({ printed, expected: rounded(expected) });
    expected = value;
  }
  return { right, off };
}
