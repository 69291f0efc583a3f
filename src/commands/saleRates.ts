import type { BookSaleRate } from '../../domain/account/messages.ts';
import { fxRateOn, type FxRatesState } from '../../domain/fxRates.ts';
import { isSameDecimal } from '../../domain/kernel/amounts.ts';
import { deterministicEventId } from '../../domain/kernel/chain.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { Clock } from '../../domain/ports/log.ts';
import type { BookedAt, RatedSale } from '../../projections/grants.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import { SYSTEM } from '../writer/commandMeta.ts';
import type { NotNow } from '../writer/decideBatch.ts';
import type { ReferenceData } from './reference.ts';

export interface SaleRatesDeps {
  readonly reference: Pick<ReferenceData, 'fxRates'>;
  readonly accounts: Pick<AccountWriter, 'execute'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Sales after a position, in the order of the log. May be late; the account decides. */
  readonly salesWithoutRate: (after: bigint, limit: number) => Promise<readonly RatedSale[]>;
  readonly salesBookedAt: (wanted: BookedAt, after: bigint, limit: number) => Promise<readonly RatedSale[]>;
  /** Told how far the log is for a tenant. */
  readonly note: (tenantId: string, position: bigint | undefined) => void;
}

const PAGE = 500;

/** All sales of a list, a page at a time. */
async function* pagesOf(
  page: (after: bigint, limit: number) => Promise<readonly RatedSale[]>,
): AsyncGenerator<RatedSale> {
  let after = 0n;
  for (;;) {
    const sales = await page(after, PAGE);
    yield* sales;
    const last = sales.at(-1);
    if (last === undefined || sales.length < PAGE) return;
    after = last.position;
  }
}

type Booked = 'booked' | 'unchanged' | NotNow;

const book = async (
  { accounts, note }: SaleRatesDeps,
  data: BookSaleRate['data'],
  meta: CommandMeta,
): Promise<Booked> => {
  const part = `rate ${data.grant_id} ${data.fx_rate_to_usd} ${meta.now}`;
  const command_id = deterministicEventId(part, meta.command_id, 0);
  const outcome = await accounts.execute({ type: 'BookSaleRate', data, meta: { ...meta, command_id } });
  if (outcome.kind === 'rejected') throw new Error(`${data.grant_id} is a sale of no account`);
  if (outcome.kind !== 'done') return outcome;
  note(data.tenant_id, outcome.position);
  return outcome.events.length > 0 ? 'booked' : 'unchanged';
};

const sweepMeta = (now: string): CommandMeta => ({
  now,
  actor: SYSTEM,
  correlation_id: 'sale-rates',
  command_id: deterministicEventId('sale-rates', now, 0),
});

const rateFor = (rates: FxRatesState, { currency, occurred_at }: RatedSale) =>
  fxRateOn(rates, { base: currency, quote: 'USD' }, occurred_at.slice(0, 10));

/**
 * Books a rate for each sale that has none and whose rate is known by now; gives how many. What a crash leaves, the
 * next run finds.
 */
export const priceSales = (deps: SaleRatesDeps) => async (): Promise<number> => {
  let [rates, booked]: [FxRatesState | undefined, number] = [undefined, 0];
  for await (const sale of pagesOf(deps.salesWithoutRate)) {
    rates ??= await deps.reference.fxRates();
    const found = rateFor(rates, sale);
    if (found === undefined) continue;
    const { tenant_id, grant_id } = sale;
    const rate = { fx_rate_to_usd: found.rate, fx_rate_date: found.rate_date, reason: null };
    const result = await book(deps, { tenant_id, grant_id, ...rate }, sweepMeta(deps.clock.now()));
    if (result === 'booked') booked += 1;
  }
  return booked;
};

/** Sales that were booked at a wrong rate. */
export interface RateCorrection extends BookedAt {
  /** The right one; null: the rate of that day as it is published now. */
  readonly fx_rate_to_usd: string | null;
  readonly reason: string;
}

interface Corrected {
  readonly tenant_id: string;
  readonly grant_id: string;
  readonly previous_rate: string;
}

type RatesCorrected =
  | { readonly kind: 'done'; readonly fx_rate_to_usd: string; readonly corrected: readonly Corrected[] }
  | { readonly kind: 'rejected'; readonly rejection: { readonly code: 'fx_rate_not_found' } }
  | NotNow;

/** The rate of exactly that day. */
const rateOfDay = (rates: FxRatesState, { currency, rate_date }: RateCorrection): string | undefined => {
  const found = fxRateOn(rates, { base: currency, quote: 'USD' }, rate_date);
  return found?.rate_date === rate_date ? found.rate : undefined;
};

/**
 * Corrects the sales that were booked at another rate of a day; those that have the right one stay. Sent again, it goes
 * on where a crash ended it.
 */
export const correctRates =
  (deps: SaleRatesDeps) =>
  async (wanted: RateCorrection, meta: CommandMeta): Promise<RatesCorrected> => {
    const { rate_date, reason } = wanted;
    const fx_rate_to_usd = wanted.fx_rate_to_usd ?? rateOfDay(await deps.reference.fxRates(), wanted);
    if (fx_rate_to_usd === undefined) return { kind: 'rejected', rejection: { code: 'fx_rate_not_found' } };
    const corrected: Corrected[] = [];
    for await (const sale of pagesOf((after, limit) => deps.salesBookedAt(wanted, after, limit))) {
      const { tenant_id, grant_id, fx_rate_to_usd: previous_rate } = sale;
      if (previous_rate === null || isSameDecimal(previous_rate, fx_rate_to_usd)) continue;
      const data = { tenant_id, grant_id, fx_rate_to_usd, fx_rate_date: rate_date, reason };
      const result = await book(deps, data, meta);
      if (typeof result !== 'string') return result;
      if (result === 'booked') corrected.push({ tenant_id, grant_id, previous_rate });
    }
    return { kind: 'done', fx_rate_to_usd, corrected };
  };
