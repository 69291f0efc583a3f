import { decodeAny } from '../../../domain/catalogue.ts';
import type { RecordedEvent } from '../../../domain/kernel/recorded.ts';
import type { ProjectedEvent } from '../../../projections/engine/ports.ts';
import { noSums, sumsOf, type TimeRange } from '../../../projections/engine/table.ts';
import { foldMargin, marginProjector } from '../../../projections/margin.ts';
import type { CurrencyFlows } from '../../../projections/marginFlows.ts';
import { marginDays } from '../../../projections/marginTables.ts';

/** An event in its place, as projectors get it. */
export const projected = (recorded: RecordedEvent): ProjectedEvent => ({
  ...recorded,
  ...decodeAny(recorded),
});

const BOOKED: ReadonlySet<string> = new Set(marginProjector.eventTypes);
const isBooked = ({ type }: RecordedEvent): boolean => BOOKED.has(type);

/** What the projector books in a period, by currency. */
export const flowsIn = (
  events: readonly RecordedEvent[],
  { from = '', to = '9999' }: TimeRange,
): readonly CurrencyFlows[] => {
  const given = events.filter(isBooked).map(projected);
  const { burns, bookings } = foldMargin({ lots: new Map(), transit: new Map(), opensAt: '' }, given);
  const sums = new Map<string, Record<string, bigint>>();
  for (const flow of [...burns, ...bookings]) {
    const { currency, booked_at } = flow;
    if (booked_at < from || booked_at > to) continue;
    const sum = sums.get(currency) ?? { ...noSums(marginDays.columns) };
    sums.set(currency, sum);
    const row: Readonly<Record<string, unknown>> = { ...flow };
    for (const name of sumsOf(marginDays.columns))
      sum[name] = (sum[name] ?? 0n) + BigInt((row[name] ?? 0) as bigint | number);
  }
  return [...sums.keys()]
    .sort()
    .map((currency) => ({ ...sums.get(currency), currency }) as unknown as CurrencyFlows);
};
