import type { AccountCommand } from '../../../domain/account/commands.ts';
import type { DeliveredWork } from '../../../domain/account/events.ts';
import type { BillingType, ExtractionMode } from '../../../domain/account/words.ts';
import type { BillingConfig } from '../../../domain/billingConfig/decider.ts';
import type { CommandMeta } from '../../../domain/kernel/command.ts';
import type { Credits } from '../../../domain/kernel/units.ts';
import type { Clock } from '../../../domain/ports/clock.ts';
import { categoryOf, rateOf, ratedMode, type RatedOperation } from '../../../domain/rating/rating.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import type { HoldNotOpen } from './settleOnce.ts';
import { misfit, workProblem, type WorkProblem } from './workProblem.ts';

/** Who asks, and whether they pay: service and admin keys are not billed. */
export interface Caller {
  readonly key_id: string;
  readonly role: 'tenant' | 'service' | 'admin';
}

/** What a hold is placed for. */
export interface WorkToBill {
  readonly operation: RatedOperation;
  readonly operation_id: string;
  readonly tenant_id: string;
  readonly mode: ExtractionMode;
  readonly billing_type: BillingType;
  readonly pages: number;
  readonly caller: Caller;
  readonly correlation_id: string;
}

/** Members of the burn that reports group by. */
export interface BurnScope {
  readonly project_id: string;
  readonly task_id: string;
  readonly document_id: string;
}

export interface Cost {
  readonly credits_used: number;
  readonly pages: number;
  /** null for keys that are not billed. */
  readonly balance_remaining: number | null;
}

/** A hold that was placed, or null for work that is not billed. */
export interface PlacedHold {
  readonly kind: 'held';
  readonly hold_id: string | null;
  /** True where all pages are free ones of the tenant. */
  readonly free: boolean;
}

export interface Bill {
  readonly kind: 'billed';
  readonly cost: Cost;
  readonly free_pages: number;
  readonly position: bigint | undefined;
}

export interface BillingDeps {
  readonly accounts: AccountWriter;
  readonly billingConfig: () => Promise<BillingConfig>;
  readonly clock: Clock;
}

const isBilled = ({ role }: Caller): boolean => role === 'tenant';

export const metaOf = (
  { clock }: Pick<BillingDeps, 'clock'>,
  caller: CommandMeta['actor'],
  correlation_id: string,
): CommandMeta => ({
  now: clock.now(),
  actor: caller,
  correlation_id,
  command_id: clock.uuid(),
});

const laterBy = (instant: string, seconds: number): string =>
  new Date(Date.parse(instant) + seconds * 1000).toISOString();

const notNow = (kind: 'contended' | 'busy' | 'unknown'): WorkProblem =>
  workProblem(
    'busy',
    kind === 'unknown'
      ? 'The event log did not answer in time. Send the request again with the same Idempotency-Key.'
      : 'The account is busy. Send the request again in a moment.',
  );

const tooLittle = (required: Credits, available: Credits): WorkProblem =>
  workProblem(
    'insufficient_credits',
    `This needs ${required} credits and ${available} are available. Buy credits, or send fewer pages.`,
    { required_credits: required, available_credits: available },
  );

/**
 * Sets aside what the work may cost, free pages first. Work that is not billed needs no hold.
 * `hold_not_open`: the operation was billed already, or has another hold.
 */
export const placeHold = async (
  deps: BillingDeps,
  work: WorkToBill,
  hold_id = deps.clock.newId('hold'),
): Promise<PlacedHold | WorkProblem | HoldNotOpen> => {
  if (!isBilled(work.caller)) return { kind: 'held', hold_id: null, free: false };
  const config = await deps.billingConfig();
  const rate = rateOf(config, { ...work, extraction_mode: work.mode });
  if (rate === undefined)
    return misfit(['body', 'mode'], `There is no rate for ${work.operation} in mode ${work.mode}.`);
  const meta = metaOf(deps, work.caller, work.correlation_id);
  const outcome = await deps.accounts.execute({
    type: 'HoldCredits',
    meta,
    data: {
      tenant_id: work.tenant_id,
      hold_id,
      operation_id: work.operation_id,
      operation: work.operation,
      category: categoryOf(work.operation),
      extraction_mode: ratedMode(work.operation, work.mode),
      billing_type: work.billing_type,
      pages: work.pages,
      credits_per_page: rate,
      free_pages_allowance: config.terms.free_pages,
      billing_config_version: config.version,
      expires_at: laterBy(meta.now, config.terms.hold_ttl_seconds),
    },
  });
  if (outcome.kind === 'done') {
    const free = outcome.events.some(
      ({ type, data }) => type === 'CreditsHeld' && data.free_pages === data.pages,
    );
    return { kind: 'held', hold_id, free };
  }
  if (outcome.kind !== 'rejected') return notNow(outcome.kind);
  const { rejection } = outcome;
  if (rejection.code === 'insufficient_credits')
    return tooLittle(rejection.required_credits, rejection.available_credits);
  if (rejection.code === 'hold_not_open' || rejection.code === 'idempotency_key_reused')
    return { kind: 'hold_not_open' };
  throw new Error(`a hold was rejected with ${rejection.code}`);
};

/** A hold and what its settlement says. */
export interface Settlement {
  readonly hold_id: string | null;
  readonly usage_id: string;
  readonly scope: BurnScope;
  readonly delivered: DeliveredWork;
}

/** Closes the hold by a burn of the work's pages. `hold_not_open` when it expired or was settled before. */
export const settle = async (
  deps: BillingDeps,
  work: WorkToBill,
  { hold_id, usage_id, scope, delivered }: Settlement,
): Promise<Bill | WorkProblem | HoldNotOpen> => {
  if (hold_id === null)
    return {
      kind: 'billed',
      cost: { credits_used: 0, pages: work.pages, balance_remaining: null },
      free_pages: 0,
      position: undefined,
    };
  const outcome = await deps.accounts.execute({
    type: 'SettleHold',
    meta: metaOf(deps, work.caller, work.correlation_id),
    data: {
      tenant_id: work.tenant_id,
      usage_id,
      hold_id,
      pages: work.pages,
      ...scope,
      delivered,
      job_id: null,
      api_key_id: work.caller.key_id,
    },
  });
  if (outcome.kind === 'rejected') {
    if (outcome.rejection.code === 'hold_not_open') return { kind: 'hold_not_open' };
    throw new Error(`a settlement was rejected with ${outcome.rejection.code}`);
  }
  if (outcome.kind !== 'done') return notNow(outcome.kind);
  const burn = outcome.events.find((event) => event.type === 'CreditsBurned')?.data;
  // A repeat of a settlement that had taken effect: the caller finds its burn in the log.
  if (burn === undefined) return { kind: 'hold_not_open' };
  return {
    kind: 'billed',
    cost: { credits_used: burn.credits, pages: burn.pages, balance_remaining: outcome.state.balance },
    free_pages: burn.free_pages,
    position: outcome.position,
  };
};

/** Gives the hold back. A failure here costs nothing: the hold expires. */
export const release = async (
  deps: BillingDeps,
  work: WorkToBill,
  hold: { readonly hold_id: string | null; readonly reason: 'failed' | 'cancelled' },
): Promise<void> => {
  if (hold.hold_id === null) return;
  const command: AccountCommand = {
    type: 'ReleaseHold',
    meta: metaOf(deps, work.caller, work.correlation_id),
    data: { tenant_id: work.tenant_id, hold_id: hold.hold_id, reason: hold.reason },
  };
  await deps.accounts.execute(command);
};
