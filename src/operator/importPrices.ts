import { z } from 'zod';
import { instant } from '../../domain/kernel/amounts.ts';
import {
  distinctRows,
  modelPriceMembers,
  type PriceNews,
  priceNewsOf,
  type TablePrice,
} from '../../domain/modelPrices.ts';
import type { Clock } from '../../domain/ports/log.ts';
import type { ReferenceData } from '../commands/reference/referenceData.ts';
import { operatorMeta, OperatorError } from './protocol.ts';

/** What an import came to, in prices; of a dry run, what it would come to. */
export interface PriceImportReport {
  readonly prices: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly effective_from: string;
  readonly dry_run: boolean;
}

/** A price that is new, as a dry run lists it. */
export interface PriceChange {
  readonly news: Exclude<PriceNews, 'unchanged'>;
  readonly price: TablePrice;
}

interface PriceImportDeps {
  readonly reference: Pick<ReferenceData, 'modelPrices' | 'publishModelPrice'>;
  readonly clock: Clock;
}

export const pricesToImport = z.strictObject({
  prices: z
    .array(modelPriceMembers.extend({ provider: z.string().min(1), model_name: z.string().min(1).max(200) }))
    .readonly(),
  /** null: from now on. */
  effective_from: instant.nullable(),
  dry_run: z.boolean(),
});

/** The same bounds as over HTTP. */
const EARLIEST = '2000-01-01T00:00:00.000Z';
const AHEAD_MAX_MS = 24 * 60 * 60_000;

/** What an import tells while it goes on. */
interface PriceImportNews {
  readonly change: (change: PriceChange) => Promise<void>;
  readonly progress: (done: number, of: number) => Promise<void>;
}

/** Prices in one append: some 500 kB with what each event has beside it, below what a log takes. */
const APPEND_MAX = 500;

const publishPrices = async (
  { reference, clock }: PriceImportDeps,
  prices: readonly TablePrice[],
  effective_from: string,
): Promise<void> => {
  const meta = operatorMeta(clock, 'pricing-import');
  const named = prices.map((price) => ({ ...price, price_id: clock.newId('ppr') }));
  const data = { prices: named, effective_from };
  const outcome = await reference.publishModelPrice({ type: 'ImportProviderPrices', data, meta });
  if (outcome.kind === 'done') return;
  throw new OperatorError(
    'The event log did not accept the prices in time. Run the import again: it skips prices that arrived.',
  );
};

/**
 * Publishes the prices that differ from those in force at `effective_from`, hundreds in an append; run
 * again, it publishes none. Throws OperatorError when the log does not take them.
 */
export const importPrices = async (
  deps: PriceImportDeps,
  wanted: z.output<typeof pricesToImport>,
  tell: PriceImportNews,
): Promise<PriceImportReport> => {
  const { dry_run } = wanted;
  const now = deps.clock.now();
  const effective_from = wanted.effective_from ?? now;
  if (effective_from < EARLIEST || Date.parse(effective_from) - Date.parse(now) > AHEAD_MAX_MS)
    throw new OperatorError('Prices hold from a time between 2000-01-01 and one day ahead.', 2);
  const rows = distinctRows(wanted.prices);
  const { prices: known } = await deps.reference.modelPrices();
  const counts = { added: 0, changed: 0, unchanged: 0 };
  const fresh: TablePrice[] = [];
  for (const price of rows) {
    const news = priceNewsOf(known, price, effective_from);
    counts[news] += 1;
    if (news === 'unchanged') continue;
    fresh.push(price);
    if (dry_run) await tell.change({ news, price });
  }
  for (let done = 0; done < fresh.length && !dry_run; done += APPEND_MAX) {
    await publishPrices(deps, fresh.slice(done, done + APPEND_MAX), effective_from);
    await tell.progress(Math.min(done + APPEND_MAX, fresh.length), fresh.length);
  }
  return { prices: rows.length, ...counts, effective_from, dry_run };
};
