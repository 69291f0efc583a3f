import { decimalOf } from '../../ui/decimal.ts';

/** A line that is being edited: a currency with its price or rate, as typed. */
export interface Entry {
  readonly key: string;
  readonly currency: string;
  readonly amount: string;
  readonly basis: 'exclusive' | 'inclusive';
}

export type State = 'added' | 'removed' | 'changed' | 'same';

/** One line of what changes; undefined where it was not, or will not be. */
export interface Change {
  readonly currency: string;
  readonly state: State;
  readonly now: string | undefined;
  readonly then: string | undefined;
}

const isSameAmount = (one: string, other: string): boolean => {
  const [a, b] = [decimalOf(one), decimalOf(other)];
  if (a === undefined || b === undefined) return one === other;
  return a.units * 10n ** BigInt(b.scale) === b.units * 10n ** BigInt(a.scale);
};

const stateOf = (now: string | undefined, then: string | undefined, isSame: boolean): State => {
  if (now === undefined) return 'added';
  if (then === undefined) return 'removed';
  return isSame ? 'same' : 'changed';
};

type Shown = (entry: Entry) => string;

/** What the next list changes of the active one, in the order of the active one. */
export const changesOf = (
  active: readonly Entry[],
  next: readonly Entry[],
  shown: Shown = ({ amount }) => amount,
): readonly Change[] => {
  const currencies = new Set([...active, ...next].map(({ currency }) => currency));
  return [...currencies]
    .filter((currency) => currency !== '')
    .map((currency) => {
      const [now, then] = [active, next].map((list) => list.find((entry) => entry.currency === currency));
      const isSame =
        now !== undefined &&
        then !== undefined &&
        now.basis === then.basis &&
        isSameAmount(now.amount, then.amount);
      const [before, after] = [now, then].map((entry) => (entry === undefined ? undefined : shown(entry)));
      return { currency, now: before, then: after, state: stateOf(before, after, isSame) };
    });
};

/** Prices and rates with as many digits as the API takes. */
export const PRICES = /^\d{1,12}(\.\d{1,6})?$/;
export const RATES = /^\d{1,18}(\.\d{1,18})?$/;

const CURRENCY = /^[A-Z]{3}$/;
export const isCurrency = (text: string): boolean => CURRENCY.test(text);

/** The first thing wrong with a line, among the words for it. */
export const faultOf = (
  { currency, amount, key }: Entry,
  all: readonly Entry[],
  {
    amounts,
    words,
  }: {
    /** What the API takes for an amount. */
    readonly amounts: RegExp;
    readonly words: { readonly badCurrency: string; readonly badPrice: string; readonly twice: string };
  },
): string | undefined => {
  if (!isCurrency(currency)) return words.badCurrency;
  if (all.some((other) => other.key !== key && other.currency === currency)) return words.twice;
  return amounts.test(amount.trim()) ? undefined : words.badPrice;
};
