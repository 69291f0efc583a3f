import { z } from 'zod';
import { currencyCode, day, decimalText, instant } from '../../domain/kernel/amounts.ts';
import {
  distinctRows,
  modelPriceMembers,
  type PriceNews,
  priceNewsOf,
  type TablePrice,
} from '../../domain/modelPrices.ts';
import type { Clock, EventFeed, EventStore } from '../../domain/ports/log.ts';
import type { ReferenceData } from '../commands/reference.ts';
import { type Operation, type OperationContext, operatorMeta } from './socket.ts';
import { OperatorError } from '../clientConfig.ts';
import { importFxDays, type ImportReport, type RateConflict } from '../commands/importRates.ts';
import { paymentStream } from '../../domain/account/messages.ts';
import type { PaymentClaim } from '../../domain/payment.ts';
import { maybeOpenStreams, type OpenClaim, openClaimAt, type Payments } from '../commands/money/payments.ts';
import { exportedEvents } from './log.ts';
import { CannotSeal, type SealDeps, sealLog } from '../commands/sealing.ts';

/** The result of an import, in prices; for a dry run, the expected one. */
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

/** The progress of an import. */
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

export interface ImportDeps {
  readonly reference: ReferenceData;
  readonly clock: Clock;
}

export const ratesToImport = z.strictObject({
  days: z
    .array(z.strictObject({ date: day, base: currencyCode, rates: z.record(currencyCode, decimalText) }))
    .readonly(),
  source: z.string(),
  supersede: z.boolean(),
});
type RatesToImport = z.output<typeof ratesToImport>;

const CONFLICTS_SHOWN = 20;

const refuse = (conflicts: readonly RateConflict[]): OperatorError => {
  const shown = conflicts
    .slice(0, CONFLICTS_SHOWN)
    .map(
      ({ date, currency, known, given }) =>
        `  ${date} ${currency}: ${known ?? 'none'} is known, the file says ${given ?? 'none'}`,
    );
  const rest = conflicts.length - shown.length;
  return new OperatorError(
    [
      'Some rates differ from the known ones; nothing was imported. Use --supersede if the file is the correction.',
      ...shown,
      ...(rest > 0 ? [`  and ${String(rest)} more`] : []),
    ].join('\n'),
  );
};

/** Publishes the days that are new. Throws OperatorError with the conflicts. */
export const importRates = async (
  { reference, clock }: ImportDeps,
  wanted: RatesToImport,
): Promise<ImportReport> => {
  const imported = await importFxDays(reference, wanted, () => operatorMeta(clock, 'fx-import'));
  if (imported.kind === 'imported') return imported.report;
  if (imported.kind === 'conflict') throw refuse(imported.conflicts);
  throw new OperatorError(
    'The event log did not accept the rates in time. Run the import again: it skips days that arrived.',
  );
};

export interface PaymentDeps {
  readonly log: EventStore & EventFeed;
  readonly payments: Pick<Payments, 'releaseClaim'>;
  readonly clock: Clock;
  /** Streams that a read model lists as open. Left out: the whole log is read. */
  readonly listedStreams?: () => Promise<readonly string[]>;
}

const releaseInput = z.strictObject({
  provider: z.string().min(1).max(100),
  provider_txn_id: z.string().min(1).max(255),
  reason: z.string().min(1).max(500),
});
export type ReleaseInput = z.output<typeof releaseInput>;

/** Every open claim of a log, oldest first. */
export const openClaims = async (
  log: EventStore & EventFeed,
  streams: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<readonly OpenClaim[]> => {
  const found: OpenClaim[] = [];
  for (const stream of streams ?? (await maybeOpenStreams(exportedEvents(log, {}, signal)))) {
    signal.throwIfAborted();
    const open = await openClaimAt(log, stream);
    if (open !== undefined) found.push(open);
  }
  return found.sort((a, b) => (a.claimed_at < b.claimed_at ? -1 : 1));
};

/** Sends each open claim. */
export const listOpen = async (
  { log, listedStreams }: PaymentDeps,
  { send, signal }: OperationContext,
): Promise<void> => {
  for (const claim of await openClaims(log, await listedStreams?.(), signal)) await send(claim);
};

/** Frees a payment identity permanently, with the reason in the log. Throws OperatorError if that is not allowed. */
export const releasePayment = async (
  { payments, clock }: PaymentDeps,
  input: unknown,
): Promise<ReleaseInput & { readonly tenant_id: string; readonly kind: PaymentClaim['kind'] }> => {
  const { reason, ...identity } = releaseInput.parse(input);
  const meta = operatorMeta(clock, 'payments-release');
  const released = await payments.releaseClaim(paymentStream(identity), { reason, meta });
  switch (released.kind) {
    case 'released': {
      const { tenant_id, kind } = released.claim;
      return { ...identity, reason, tenant_id, kind };
    }
    case 'none':
      throw new OperatorError(
        'There is no open claim of this payment. Give provider and ID as `quire payments list-open` shows them.',
      );
    case 'took_effect':
      throw new OperatorError(
        'This payment took effect: its credits were moved. To take them back, record a refund.',
      );
    case 'young':
      throw new OperatorError('This claim is less than a minute old: its request may still be at work.');
    case 'busy':
      throw new OperatorError(
        'The event log did not accept it in time. Check whether it was done, then run the command again.',
      );
  }
};

export type PaymentReleased = Awaited<ReturnType<typeof releasePayment>>;

const sealInput = z.strictObject({ retain_days: z.number().int().min(1).max(36_500).nullable() });
export type SealInput = z.output<typeof sealInput>;

/** Seals the log now, and answers with the seal. Throws OperatorError where it cannot. */
export const sealNow =
  (deps: SealDeps): Operation =>
  async (input, { send, signal }) => {
    const { retain_days: retainDays } = sealInput.parse(input);
    try {
      const sealed = await sealLog(deps, { retainDays, signal });
      if (sealed === undefined) throw new OperatorError('The log is empty: there is nothing to seal.');
      await send(sealed);
    } catch (error) {
      if (error instanceof CannotSeal) throw new OperatorError(error.message);
      throw error;
    }
  };
