import { decimalOf, divideHalfEven, parseDecimal, powerOfTen } from '../../../domain/kernel/amounts.ts';

/** USD for one unit of a currency, and the day it is of; null where none was known. */
export interface BookedRate {
  readonly rate: string | null;
  readonly date: string | null;
}

/** Rates of one day as published: 1 `base` = rate units. */
interface DayTable {
  readonly date: string;
  readonly base: string;
  readonly rates: Readonly<Record<string, string>>;
  readonly published_at: string;
}

interface Wanted {
  readonly currency: string;
  readonly day: string;
}

const USD = 'USD';
/** Digits after the point of a rate computed from two others. */
const CROSS_DIGITS = 18;
/** Publications under way during one sale; beyond so many only the first and the last state are tried. */
const RACES_MAX = 40;

const quoted = ({ base, rates }: DayTable, currency: string): string | undefined => {
  const rate = currency === base ? '1' : rates[currency];
  return rate === undefined || parseDecimal(rate).units === 0n ? undefined : rate;
};

/** usd ÷ own, both for one unit of the table's base; a rate of the base itself is taken as published. */
const usdOf = (table: DayTable, currency: string): string | undefined => {
  const [own, usd] = [quoted(table, currency), quoted(table, USD)];
  if (own === undefined || usd === undefined) return undefined;
  if (currency === table.base) return usd;
  const [a, b] = [parseDecimal(usd), parseDecimal(own)];
  const numerator = a.units * powerOfTen(b.scale + CROSS_DIGITS);
  return decimalOf(divideHalfEven(numerator, b.units * powerOfTen(a.scale)), CROSS_DIGITS);
};

/** Newest first; of one day EUR before other bases, and those by name from the end. */
const inOrder = (a: DayTable, b: DayTable): number => {
  if (a.date !== b.date) return a.date < b.date ? 1 : -1;
  if (a.base === b.base) return 0;
  if (a.base === 'EUR' || b.base === 'EUR') return a.base === 'EUR' ? -1 : 1;
  return a.base < b.base ? 1 : -1;
};

/** The tables in force after some publications: a later one of the same day and base replaces. */
const inForce = (tables: readonly DayTable[]): readonly DayTable[] =>
  [...new Map(tables.map((table) => [`${table.date} ${table.base}`, table])).values()].sort(inOrder);

/** Index of the first table of that day or older. */
const firstOnOrBefore = (tables: readonly DayTable[], day: string): number => {
  let [low, high] = [0, tables.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((tables[middle]?.date ?? '') > day) low = middle + 1;
    else high = middle;
  }
  return low;
};

const lookUp = (tables: readonly DayTable[], { currency, day }: Wanted): BookedRate => {
  for (let at = firstOnOrBefore(tables, day); at < tables.length; at += 1) {
    const table = tables[at];
    const rate = table === undefined ? undefined : usdOf(table, currency);
    if (table !== undefined && rate !== undefined) return { rate, date: table.date };
  }
  return { rate: null, date: null };
};

/** All exchange rates published so far. */
export const fxPublications = () => {
  const published: DayTable[] = [];
  let sorted: readonly DayTable[] | undefined;
  return {
    apply: (table: DayTable): void => {
      published.push(table);
      sorted = undefined;
    },
    /**
     * The rate by all that was published, and those by what was published until `surely`: whoever booked
     * the sale may have read in between.
     */
    bookable: (wanted: Wanted, surely: string): readonly BookedRate[] => {
      if (wanted.currency === USD) return [{ rate: '1', date: wanted.day }];
      sorted ??= inForce(published);
      const booked = [lookUp(sorted, wanted)];
      let known = published.length;
      while (known > 0 && (published[known - 1]?.published_at ?? '') > surely) known -= 1;
      const first = Math.max(known, published.length - RACES_MAX);
      for (const end of new Set([known, ...published.keys()].filter((at) => at === known || at >= first)))
        if (end < published.length) booked.push(lookUp(inForce(published.slice(0, end)), wanted));
      return booked;
    },
  };
};
