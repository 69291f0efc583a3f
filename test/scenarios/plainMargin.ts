import type { ProjectedEvent } from '../../projections/engine/ports.ts';
import {
  type MarginBook,
  type Moves,
  newMarginBook,
  noWorth,
  post,
  type Worth,
} from '../../src/audit/lots.ts';

/** What a period came to, in micro-USD and credits. */
export interface PlainSums extends Worth {
  priced: bigint;
  gift: bigint;
  unpriced: bigint;
  trueUp: bigint;
  disputeFee: bigint;
  /** Net value of unconsumed credits at its end. */
  deferred: bigint;
}

const timeOf = ({ data }: ProjectedEvent): string => ('created_at' in data ? data.created_at : '');

const add = (sums: PlainSums, { trueUps, used, cost }: Moves): void => {
  sums.disputeFee += cost;
  for (const net of trueUps.values()) sums.trueUp += net;
  for (const part of used.values())
    for (const name of Object.keys(part) as (keyof typeof part)[]) sums[name] += part[name];
};

/**
 * Goes through all events up to `to`, with the auditor's own bookkeeping, and adds up what happened from
 * `from` on. It shares no code with the report and its read model.
 */
export const plainMargin = (
  events: readonly ProjectedEvent[],
  { from, to }: { readonly from: string; readonly to: string },
): PlainSums => {
  const sums = { ...noWorth(), priced: 0n, gift: 0n, unpriced: 0n, trueUp: 0n, disputeFee: 0n, deferred: 0n };
  const books = new Map<string, MarginBook>();
  const transit: MarginBook['transit'] = new Map();
  for (const event of events) {
    if (timeOf(event) > to) continue;
    const book = books.get(event.stream) ?? newMarginBook(transit);
    books.set(event.stream, book);
    const moves = post(book, event);
    if (moves !== undefined && timeOf(event) >= from) add(sums, moves);
  }
  for (const { lots } of books.values())
    for (const lot of lots) sums.deferred += lot.value.net - lot.shown.net;
  for (const parcels of transit.values()) for (const { value } of parcels) sums.deferred += value.net;
  return sums;
};
