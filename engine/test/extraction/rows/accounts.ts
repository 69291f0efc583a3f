import type { JsonObject } from '../../../kernel/json.ts';
import type { Placed } from '../../support/laidOut.ts';
import { seededRandom, type Random } from '../../support/random.ts';

/** A statement of an account that was made up: its page, the schema to ask it by, and the movements on it. */
export interface AccountPage {
  readonly placed: readonly Placed[];
  readonly schema: JsonObject;
  readonly transactions: readonly JsonObject[];
}

interface Move {
  readonly date: string;
  readonly lines: readonly string[];
  /** Cents. */
  readonly cents: number;
  readonly balance: number;
}

/** How a bank prints a statement. */
interface Bank {
  readonly head: readonly string[];
  readonly columns: Readonly<Record<'date' | 'text' | 'amount' | 'debit' | 'credit' | 'balance', string>>;
  readonly opening: string;
  readonly closing: string;
  readonly day: (year: number, month: number, day: number) => string;
  readonly period: (from: string, to: string) => string;
  readonly full: (iso: string) => string;
  readonly mark: ',' | '.';
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (value: number): string => String(value).padStart(2, '0');
const partsOf = (iso: string): readonly [number, number, number] => {
  const [year = 0, month = 0, day = 0] = iso.split('-').map(Number);
  return [year, month, day];
};

const BANKS: readonly Bank[] = [
  {
    head: ['Harbour & Vale Bank', 'Statement of account', 'Account number 20417733'],
    columns: {
      date: 'Date',
      text: 'Description',
      amount: 'Amount',
      debit: 'Paid out',
      credit: 'Paid in',
      balance: 'Balance',
    },
    opening: 'Opening balance',
    closing: 'Closing balance',
    day: (_, month, day) => `${two(day)} ${MONTHS[month - 1] ?? ''}`,
    period: (from, to) => `Statement period ${from} to ${to}`,
    full: (iso) => `${two(partsOf(iso)[2])} ${MONTHS[partsOf(iso)[1] - 1] ?? ''} ${String(partsOf(iso)[0])}`,
    mark: '.',
  },
  {
    head: ['Sparkasse Unterweiler', 'Kontoauszug Nr. 4', 'Konto 5512809'],
    columns: {
      date: 'Datum',
      text: 'Buchungstext',
      amount: 'Betrag',
      debit: 'Soll',
      credit: 'Haben',
      balance: 'Saldo',
    },
    opening: 'Alter Kontostand',
    closing: 'Neuer Kontostand',
    day: (_, month, day) => `${two(day)}.${two(month)}.`,
    period: (from, to) => `Zeitraum vom ${from} bis ${to}`,
    full: (iso) => `${two(partsOf(iso)[2])}.${two(partsOf(iso)[1])}.${String(partsOf(iso)[0])}`,
    mark: ',',
  },
  {
    head: ['Lone Mesa Credit Union', 'Checking account 77310', 'Summary'],
    columns: {
      date: 'Date',
      text: 'Details',
      amount: 'Amount',
      debit: 'Withdrawals',
      credit: 'Deposits',
      balance: 'Balance',
    },
    opening: 'Beginning balance',
    closing: 'Ending balance',
    day: (_, month, day) => `${two(month)}/${two(day)}`,
    period: (from, to) => `${from} - ${to}`,
    full: (iso) => `${two(partsOf(iso)[1])}/${two(partsOf(iso)[2])}/${String(partsOf(iso)[0])}`,
    mark: '.',
  },
];

/** Where the amounts stand, and what is asked for. */
export const FORMS = ['signed', 'sides', 'sides as one', 'unsigned beside balances', 'letters'] as const;
export type AccountForm = (typeof FORMS)[number];

const TEXTS = [
  'Card purchase',
  'Transfer to',
  'Standing order',
  'Direct debit',
  'Refund from',
  'Salary',
  'Rent',
];
const WHO = [
  'Birchwood Foods',
  'Ostermann KG',
  'City Water',
  'R. Lindqvist',
  'Nordlicht GmbH',
  'Acme Tools',
  'Mara Voss',
];
const MORE = ['Reference 48-A', 'thank you', 'Mandate see annex', 'for the flat', 'invoice of last month'];

function movesOf(random: Random): readonly Move[] {
  const start = Date.UTC(random.between(2019, 2027), random.pick([11, 11, 2, 6, 8]), random.between(3, 20));
  let [at, balance] = [start, random.between(90_000, 400_000)];
  return Array.from({ length: random.between(4, 9) }, () => {
    at += 86_400_000 * random.between(1, 5);
    const cents = random.between(150, 60_000) * (random.next() < 0.65 ? -1 : 1);
    balance += cents;
    const more = random.next() < 0.5 ? [random.pick(MORE)] : [];
    const lines = [`${random.pick(TEXTS)} ${random.pick(WHO)}`, ...more];
    return { date: new Date(at).toISOString().slice(0, 10), lines, cents, balance };
  });
}

function printed(cents: number, mark: ',' | '.'): string {
  const whole = String(Math.floor(Math.abs(cents) / 100)).replace(
    /\B(?=(\d{3})+$)/g,
    mark === ',' ? '.' : ',',
  );
  return `${cents < 0 ? '-' : ''}${whole}${mark}${two(Math.abs(cents) % 100)}`;
}

type Cells = readonly (readonly [column: number, text: string])[];

/** The right edges of the columns of amounts. */
const EDGES = [370, 450, 540];
const TEXT_AT = 120;

interface Printing {
  readonly bank: Bank;
  readonly form: AccountForm;
}

function headOf({ bank: { columns }, form }: Printing): Cells {
  if (form === 'sides' || form === 'sides as one')
    return [columns.debit, columns.credit, columns.balance].map((text, i) => [i, text] as const);
  return form === 'unsigned beside balances'
    ? [
        [1, columns.amount],
        [2, columns.balance],
      ]
    : [[2, columns.amount]];
}

function amountsOf({ cents, balance }: Move, { bank: { mark }, form }: Printing): Cells {
  const size = printed(Math.abs(cents), mark);
  if (form === 'signed') return [[2, printed(cents, mark)]];
  if (form === 'letters') return [[2, `${size} ${cents < 0 ? 'DR' : 'CR'}`]];
  const own = form === 'unsigned beside balances' || cents > 0 ? 1 : 0;
  return [
    [own, size],
    [2, printed(balance, mark)],
  ];
}

/** The line of a balance: in the last column. */
const balanceLine = (cents: number, { bank: { mark }, form }: Printing): Cells => [
  [
    2,
    form === 'letters'
      ? `${printed(Math.abs(cents), mark)} ${cents < 0 ? 'DR' : 'CR'}`
      : printed(cents, mark),
  ],
];

const asked = (form: AccountForm): JsonObject => {
  const amounts: JsonObject =
    form === 'sides'
      ? { debit: { type: 'number' }, credit: { type: 'number' } }
      : { amount: { type: 'number' } };
  const balance: JsonObject =
    form === 'sides' || form === 'unsigned beside balances' ? { balance: { type: 'number' } } : {};
  const date = { type: 'string', format: 'date' };
  const properties = { date, description: { type: 'string' }, ...amounts, ...balance };
  const transactions = { type: 'array', items: { type: 'object', properties } };
  return { type: 'object', properties: { transactions } };
};

function answer({ date, lines, cents, balance }: Move, form: AccountForm): JsonObject {
  const own = { date, description: lines.join(' ') };
  const withBalance = { balance: balance / 100 };
  if (form === 'sides')
    return { ...own, [cents < 0 ? 'debit' : 'credit']: Math.abs(cents) / 100, ...withBalance };
  const amount = { ...own, amount: cents / 100 };
  return form === 'unsigned beside balances' ? { ...amount, ...withBalance } : amount;
}

/** Puts lines of cells below each other. */
class Sheet {
  readonly placed: Placed[] = [];
  private y = 120;

  constructor(head: readonly string[]) {
    for (const [i, text] of head.entries()) this.placed.push([50, 40 + 15 * i, text]);
  }

  line(first: string, [text = '', ...more]: readonly string[], cells: Cells): void {
    if (first !== '') this.placed.push([50, this.y, first]);
    this.placed.push([TEXT_AT, this.y, text]);
    for (const [column, cell] of cells) this.placed.push([EDGES[column] ?? 0, this.y, cell, 'right']);
    for (const one of more) this.placed.push([TEXT_AT, (this.y += 11), one]);
    this.y += 18;
  }
}

/** A statement by a seed: over the turn of a year half of the time, with texts over two lines and balances around. */
export function accountPage(seed: number, form: AccountForm): AccountPage {
  const random = seededRandom(seed);
  const bank = random.pick(BANKS);
  const moves = movesOf(random);
  const printing = { bank, form };
  const [first, last] = [moves.at(0), moves.at(-1)] as readonly [Move, Move];
  const sheet = new Sheet([...bank.head, bank.period(bank.full(first.date), bank.full(last.date))]);
  sheet.line(bank.columns.date, [bank.columns.text], headOf(printing));
  sheet.line('', [bank.opening], balanceLine(first.balance - first.cents, printing));
  for (const move of moves)
    sheet.line(bank.day(...partsOf(move.date)), move.lines, amountsOf(move, printing));
  sheet.line('', [bank.closing], balanceLine(last.balance, printing));
  return { placed: sheet.placed, schema: asked(form), transactions: moves.map((move) => answer(move, form)) };
}
