import builtIn from './payoutMappings.json' with { type: 'json' };
import { z } from 'zod';
import { minorUnitDigits } from './kernel/amounts.ts';

/** The file of a provider cannot be read as one; the message says where and why. */
export class UnreadablePayoutFile extends Error {
  override readonly name = 'UnreadablePayoutFile';
}

const payoutKind = z.enum(['sale', 'refund', 'dispute', 'reversal']);
export type PayoutKind = z.output<typeof payoutKind>;

const column = z.string().min(1).max(200);
/** Names of columns; of those that the file has, the first with a value counts. */
const columns = z.array(column).min(1).max(10);

/** How a provider's file is read: its columns, its units, its signs, and which rows are payments. */
export const payoutMapping = z.strictObject({
  description: z.string().max(500).optional(),
  /** As the payments in the books name it, in any case. */
  provider: z.string().trim().min(1).max(100),
  /** `minor`: whole cents; `decimal`: `12.34`. */
  amounts: z.enum(['minor', 'decimal']),
  decimal_separator: z.enum(['.', ',']).default('.'),
  /** Digits after the point that are not those of ISO 4217, by currency: `{"ISK": 2}`. */
  digits: z.record(z.string().regex(/^[A-Z]{3}$/), z.int().min(0).max(4)).default({}),
  /** `unsigned`: money that went back has no minus. */
  amount_sign: z.enum(['signed', 'unsigned']).default('signed'),
  /** The sign of a fee that the provider keeps. */
  fee_sign: z.enum(['positive', 'negative']).default('positive'),
  /** The order of the parts of a date; seconds since 1970 are known as such. */
  date_order: z.enum(['ymd', 'dmy', 'mdy']).default('ymd'),
  columns: z.strictObject({
    type: columns,
    /** The identity of a row; a file that has it twice has the row twice. */
    row_id: column,
    currency: column,
    amount: column,
    fee: column.optional(),
    payout: column.optional(),
    /** What the customer saw, where the provider has converted it: then the fee is in another currency. */
    presented_amount: column.optional(),
    presented_currency: column.optional(),
    date: columns,
  }),
  /** Columns with names under which the books may have the payment. */
  names: z.partialRecord(payoutKind, columns),
  /** Kinds of payments by the text of `type` in small letters; rows of other types are not compared. */
  types: z.record(z.string().min(1).max(100), payoutKind),
});
export type PayoutMapping = z.output<typeof payoutMapping>;

/** Mappings that come with the service, by name. */
export const PAYOUT_MAPPINGS: Readonly<Record<string, PayoutMapping>> = Object.fromEntries(
  Object.entries(builtIn).map(([name, mapping]) => [name, payoutMapping.parse(mapping)]),
);

/** A row of a provider's file that is a payment. Amounts are minor units; negative is money that went back. */
export interface PayoutLine {
  /** Number of the row, 1 for the first below the header. */
  readonly row: number;
  readonly row_id: string;
  readonly kind: PayoutKind;
  /** Names under which the books may have it. */
  readonly names: readonly string[];
  readonly currency: string;
  readonly amount_minor: number;
  /** What the provider keeps; negative: gives back; null: the file has no fees. */
  readonly fee_minor: number | null;
  readonly payout_id: string | null;
  /** `YYYY-MM-DD` */
  readonly day: string;
}

/** Rows of one type that are no payments, as fees and payouts: their sums. */
export interface OtherRows {
  readonly type: string;
  readonly currency: string;
  readonly rows: number;
  readonly amount_minor: bigint;
  readonly fee_minor: bigint;
}

/** Types and currencies of rows that are not compared; a file with more has another column as its type. */
const OTHERS_MAX = 200;
const TEXT_SHOWN = 60;
/** Characters that are kept of a type. */
const TYPE_CHARS = 100;

const shown = (text: string): string => JSON.stringify(text.slice(0, TEXT_SHOWN));

const unreadable = (row: number, why: string): UnreadablePayoutFile =>
  new UnreadablePayoutFile(`Row ${String(row)}: ${why}`);

/** Where the columns of a mapping are in a file. */
interface Places {
  readonly type: readonly number[];
  readonly row_id: number;
  readonly currency: number;
  readonly amount: number;
  /** undefined, here and below: the file has none. */
  readonly fee: number | undefined;
  readonly payout: number | undefined;
  readonly presented_amount: number | undefined;
  readonly presented_currency: number | undefined;
  readonly date: readonly number[];
  readonly names: Readonly<Partial<Record<PayoutKind, readonly number[]>>>;
}

/** Columns that a file of a mapping that comes with the service may lack. */
const MAY_LACK = ['fee', 'payout', 'presented_amount', 'presented_currency'] as const;

/** What a header lacks for a mapping: names of columns. */
const lackingIn = (
  { columns: wanted, names }: PayoutMapping,
  header: readonly string[],
  isOwn: boolean,
): readonly string[] => {
  const single = [wanted.row_id, wanted.currency, wanted.amount];
  const asked = isOwn ? MAY_LACK.flatMap((name) => wanted[name] ?? []) : [];
  const several = [wanted.type, wanted.date, ...Object.values(names)];
  return [
    ...[...single, ...asked].filter((name) => !header.includes(name)),
    ...several.filter((list) => !list.some((name) => header.includes(name))).map((list) => list.join(' or ')),
  ];
};

const placesOf = ({ columns: wanted, names }: PayoutMapping, header: readonly string[]): Places => {
  const at = (list: readonly string[]) => list.map((name) => header.indexOf(name)).filter((n) => n !== -1);
  const one = (name: string | undefined) => (name === undefined ? undefined : at([name])[0]);
  return {
    type: at(wanted.type),
    date: at(wanted.date),
    row_id: header.indexOf(wanted.row_id),
    currency: header.indexOf(wanted.currency),
    amount: header.indexOf(wanted.amount),
    fee: one(wanted.fee),
    payout: one(wanted.payout),
    presented_amount: one(wanted.presented_amount),
    presented_currency: one(wanted.presented_currency),
    names: Object.fromEntries(Object.entries(names).map(([kind, list]) => [kind, at(list)])),
  };
};

/** The name of a mapping that a caller gives. */
export const OWN_MAPPING = 'own';

/** A mapping by its name. */
export interface NamedMapping {
  /** One of `PAYOUT_MAPPINGS`, or `OWN_MAPPING`. */
  readonly name: string;
  readonly mapping: PayoutMapping;
}

/** A mapping of a caller does not fit; `issues` say where, none if it is no JSON and no name. */
export class WrongMapping extends Error {
  override readonly name = 'WrongMapping';
  readonly issues: readonly z.core.$ZodIssue[];
  constructor(message: string, issues: readonly z.core.$ZodIssue[] = []) {
    super(message);
    this.issues = issues;
  }
}

/** A mapping that is given by its name or as JSON; undefined: none is given. Throws WrongMapping. */
export const namedMapping = (text: string | undefined): NamedMapping | undefined => {
  if (text === undefined) return undefined;
  const known = Object.hasOwn(PAYOUT_MAPPINGS, text) ? PAYOUT_MAPPINGS[text] : undefined;
  if (known !== undefined) return { name: text, mapping: known };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const names = Object.keys(PAYOUT_MAPPINGS).join(', ');
    throw new WrongMapping(`Neither the name of a mapping (${names}) nor JSON.`);
  }
  const { data, error } = payoutMapping.safeParse(value, { reportInput: true });
  if (data === undefined) throw new WrongMapping('The mapping does not fit.', error.issues);
  return { name: OWN_MAPPING, mapping: data };
};

/** The mapping that fits a header. Throws UnreadablePayoutFile. */
const fitting = (header: readonly string[], given: NamedMapping | undefined): NamedMapping => {
  const known =
    given === undefined ? Object.entries(PAYOUT_MAPPINGS) : [[given.name, given.mapping] as const];
  const isOwn = given?.name === OWN_MAPPING;
  const tried = known.map(([name, mapping]) => {
    return { name, mapping, lacking: lackingIn(mapping, header, isOwn) };
  });
  const found = tried.find(({ lacking }) => lacking.length === 0);
  if (found !== undefined) return found;
  const lacks = tried.map(({ name, lacking }) => `${name}: no ${lacking.join(', ')}`).join('; ');
  throw new UnreadablePayoutFile(
    `The first row is not the header of a file that can be read (${lacks}). Give a mapping that names its columns.`,
  );
};

/** Sign, whole and fraction of an amount; undefined: it is none. */
const amountParts = (text: string, { decimal_separator: separator }: PayoutMapping) => {
  const parts = /^([-+]?)(\d{1,12})(?:([.,])(\d{1,6}))?$/.exec(text);
  if (parts === null) return undefined;
  const [, sign = '', whole = '', used = separator, fraction = ''] = parts;
  return used === separator ? { sign, whole, fraction } : undefined;
};

/** Minor units of an amount as the file has it. */
const minorOf = (text: string, where: { currency: string; row: number }, mapping: PayoutMapping): number => {
  const { currency, row } = where;
  const isMinor = mapping.amounts === 'minor';
  const parts = amountParts(text, mapping);
  if (parts === undefined) throw unreadable(row, `${shown(text)} is not an amount.`);
  const { sign, whole, fraction } = parts;
  if (isMinor && fraction !== '')
    throw unreadable(row, `${shown(text)} is not in minor units, as the mapping says.`);
  const digits = isMinor ? 0 : (mapping.digits[currency] ?? minorUnitDigits(currency));
  if (digits === undefined) throw unreadable(row, `${shown(currency)} is not a currency of ISO 4217.`);
  if (/[1-9]/.test(fraction.slice(digits)))
    throw unreadable(row, `${shown(text)} has more than the ${String(digits)} digits of ${currency}.`);
  const minor = Number(whole + fraction.slice(0, digits).padEnd(digits, '0'));
  return sign === '-' ? 0 - minor : minor;
};

const NUMERIC_DAY = /^(\d{1,4})[-./](\d{1,2})[-./](\d{1,4})(?=\D|$)/;
const PARTS = { ymd: [1, 2, 3], dmy: [3, 2, 1], mdy: [3, 1, 2] } as const;

const dayOf = (text: string, row: number, order: PayoutMapping['date_order']): string => {
  if (/^\d{9,10}$/.test(text)) return new Date(Number(text) * 1000).toISOString().slice(0, 10);
  const found = NUMERIC_DAY.exec(text);
  const [year = '', month = '', day = ''] = PARTS[order].map((part) => found?.[part] ?? '');
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const time = Date.parse(`${iso}T00:00:00Z`);
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(iso))
    throw unreadable(row, `${shown(text)} is not a date.`);
  return iso;
};

/** Reads the rows of a file, the header first, one after the other. */
export interface PayoutReader {
  readonly named: NamedMapping;
  /** The payment that a row is; undefined: it is none, and counts among the others. */
  readonly read: (cells: readonly string[]) => PayoutLine | undefined;
  /** Rows that were no payments so far, by type and currency. */
  readonly others: () => readonly OtherRows[];
}

/** The cells of a row, by what the mapping says of them. */
interface RowText {
  readonly row: number;
  readonly mapping: PayoutMapping;
  readonly at: (place: number | undefined) => string;
}

/** Money of a row in minor units. */
const moneyOf = (places: Places, { row, mapping, at }: RowText) => {
  const currency = at(places.currency).toUpperCase();
  const read = (place: number | undefined, of: string) =>
    minorOf(at(place) === '' ? '0' : at(place), { row, currency: of }, mapping);
  const sign = mapping.fee_sign === 'negative' ? -1 : 1;
  const amount_minor = read(places.amount, currency);
  const fee_minor = places.fee === undefined ? null : sign * read(places.fee, currency) + 0;
  return { row, currency, amount_minor, fee_minor };
};

/** The same as the customer saw it; a fee in the currency of the account says nothing of it. */
const presentedOf = (
  settled: ReturnType<typeof moneyOf>,
  places: Places,
  { row, mapping, at }: RowText,
): ReturnType<typeof moneyOf> => {
  const currency = at(places.presented_currency).toUpperCase();
  const text = at(places.presented_amount);
  if (currency === '' || text === '' || currency === settled.currency) return settled;
  const amount = Math.abs(minorOf(text, { row, currency }, mapping));
  const amount_minor = settled.amount_minor < 0 ? 0 - amount : amount;
  return { row, currency, amount_minor, fee_minor: null };
};

const signedBy = (kind: PayoutKind, amount: number, { amount_sign }: PayoutMapping): number => {
  if (amount_sign === 'signed') return amount;
  return kind === 'refund' || kind === 'dispute' ? 0 - Math.abs(amount) : Math.abs(amount);
};

/** Adds rows up that are no payments. */
const countingOthers = () => {
  const others = new Map<string, OtherRows>();
  return {
    all: (): readonly OtherRows[] => [...others.values()],
    count: (type: string, { row, currency, amount_minor, fee_minor }: ReturnType<typeof moneyOf>): void => {
      const key = `${type} ${currency}`;
      const sum = others.get(key) ?? { type, currency, rows: 0, amount_minor: 0n, fee_minor: 0n };
      if (sum.rows === 0 && others.size === OTHERS_MAX)
        throw unreadable(row, `more than ${String(OTHERS_MAX)} types of rows: is it the right column?`);
      others.set(key, {
        type,
        currency,
        rows: sum.rows + 1,
        amount_minor: sum.amount_minor + BigInt(amount_minor),
        fee_minor: sum.fee_minor + BigInt(fee_minor ?? 0),
      });
    },
  };
};

/** Reads one row; undefined: it is no payment, and was counted. */
const lineOf = (
  places: Places,
  text: RowText,
  count: ReturnType<typeof countingOthers>['count'],
): PayoutLine | undefined => {
  const { row, mapping, at } = text;
  const first = (list: readonly number[]) => list.map(at).find((cell) => cell !== '') ?? '';
  const type = first(places.type).toLowerCase();
  const settled = moneyOf(places, text);
  const kind = Object.hasOwn(mapping.types, type) ? mapping.types[type] : undefined;
  if (kind === undefined) {
    count(type.slice(0, TYPE_CHARS), settled);
    return undefined;
  }
  const names = [...new Set((places.names[kind] ?? []).map(at).filter((name) => name !== ''))];
  const row_id = at(places.row_id);
  if (names.length === 0 || row_id === '') throw unreadable(row, `a ${kind} without a name.`);
  const payout = at(places.payout);
  const money = presentedOf(settled, places, text);
  return {
    ...money,
    row_id,
    kind,
    names,
    payout_id: payout === '' ? null : payout,
    amount_minor: signedBy(kind, money.amount_minor, mapping),
    day: dayOf(first(places.date), row, mapping.date_order),
  };
};

/**
 * A reader of the rows below a header: by the mapping that is given, or by the first of the service's that fits it.
 * It throws UnreadablePayoutFile, also for a row that does not fit.
 */
export const payoutReader = (cells: readonly string[], given?: NamedMapping): PayoutReader => {
  const header = cells.map((cell) => cell.trim());
  const named = fitting(header, given);
  const { mapping } = named;
  const places = placesOf(mapping, header);
  const others = countingOthers();
  let row = 0;
  return {
    named,
    others: others.all,
    read: (line) => {
      row += 1;
      if (line.slice(header.length).some((cell) => cell.trim() !== ''))
        throw unreadable(row, `it has ${String(line.length)} cells, the header ${String(header.length)}.`);
      const at = (place: number | undefined) => (place === undefined ? '' : (line[place] ?? '').trim());
      return lineOf(places, { row, mapping, at }, others.count);
    },
  };
};
