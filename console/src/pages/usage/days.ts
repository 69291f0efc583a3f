import type { Api } from '@quire/client';

export type Used = Awaited<ReturnType<Api['listUsage']>>['items'][number];
export type Day = Awaited<ReturnType<Api['getUsageDays']>>['items'][number];

interface Bars {
  readonly days: readonly { readonly day: string; readonly values: Readonly<Record<string, number>> }[];
  /** Categories, the largest first. */
  readonly categories: readonly string[];
}

const DAY_MS = 86_400_000;

/** The first day (UTC) of a span of so many that ends at a time. */
export const firstDay = (now: number, span: number): string =>
  new Date(now - (span - 1) * DAY_MS).toISOString().slice(0, 10);

/** Credits that were used by day and category. */
export const barsOf = (days: readonly Day[]): Bars => {
  const totals = new Map<string, number>();
  for (const { category, credits } of days.flatMap(({ categories }) => categories))
    totals.set(category, (totals.get(category) ?? 0) + credits);
  return {
    days: days.map(({ day, categories }) => ({
      day,
      values: Object.fromEntries(categories.map(({ category, credits }) => [category, credits])),
    })),
    categories: [...totals]
      .filter(([, credits]) => credits > 0)
      .sort(([, a], [, b]) => b - a)
      .map(([name]) => name),
  };
};

/** The balance that each day ended on; days whose balance is not known are left out. */
export const balancesOf = (
  days: readonly Day[],
): readonly { readonly day: string; readonly value: number }[] =>
  days.flatMap(({ day, balance_credits }) =>
    balance_credits === null ? [] : [{ day, value: balance_credits }],
  );
