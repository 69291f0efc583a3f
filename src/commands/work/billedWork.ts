import { setTimeout as pause } from 'node:timers/promises';
import type { HoldCredits } from '../../../domain/account/commands.ts';
import type { DeliveredWork } from '../../../domain/account/events.ts';
import type { BillingType, ExtractionMode } from '../../../domain/account/words.ts';
import type { BillingConfig } from '../../../domain/billingConfig/decider.ts';
import { laterBy } from '../../../domain/kernel/instant.ts';
import type { Clock } from '../../../domain/ports/clock.ts';
import { categoryOf, rateOf, ratedMode, type RatedOperation } from '../../../domain/rating/rating.ts';
import { metaOf } from '../writer/commandMeta.ts';
import {
  holdCredits,
  releaseHold,
  settleOnce,
  type Held,
  type HoldDeps,
  type HoldNotOpen,
  type OtherHold,
} from './holds.ts';
import { misfit, type WorkProblem } from './workProblem.ts';

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

export interface Cost {
  readonly credits_used: number;
  readonly pages: number;
  /** null for keys that are not billed. */
  readonly balance_remaining: number | null;
}

/** A hold that was placed; its ID is null for work that is not billed. */
type PlacedHold = Held & { readonly hold_id: string | null };

export interface Bill {
  readonly kind: 'billed';
  readonly cost: Cost;
  readonly free_pages: number;
  readonly position: bigint | undefined;
}

export interface BillingDeps extends HoldDeps {
  readonly billingConfig: () => Promise<BillingConfig>;
  readonly clock: Clock;
  /** The pause after the first try to settle, ms; left out: a quarter of a second. */
  readonly settlePauseMs?: number;
}

/** A hold whose ID is known before, and that outlives the usual time; left out: a new one. */
interface NamedHold {
  readonly hold_id: string;
  readonly expires_at: string;
}

const holdOf = async (
  { billingConfig, clock }: BillingDeps,
  work: WorkToBill,
  { hold_id, expires_at }: Partial<NamedHold> & Pick<NamedHold, 'hold_id'>,
): Promise<HoldCredits['data'] | WorkProblem> => {
  const { operation, mode } = work;
  const config = await billingConfig();
  const rate = rateOf(config, { ...work, extraction_mode: mode });
  if (rate === undefined)
    return misfit(['body', 'mode'], `There is no rate for ${operation} in mode ${mode}.`);
  return {
    tenant_id: work.tenant_id,
    hold_id,
    operation_id: work.operation_id,
    operation,
    category: categoryOf(operation),
    extraction_mode: ratedMode(operation, mode),
    billing_type: work.billing_type,
    pages: work.pages,
    credits_per_page: rate,
    free_pages_allowance: config.terms.free_pages,
    billing_config_version: config.version,
    expires_at: expires_at ?? laterBy(clock.now(), config.terms.hold_ttl_seconds * 1000),
  };
};

const metaFor = (deps: BillingDeps, { caller, correlation_id }: WorkToBill) =>
  metaOf(deps, caller, correlation_id);

/** Sets aside what the work may cost, free pages first. Work that is not billed needs no hold. */
export const placeHold = async (
  deps: BillingDeps,
  work: WorkToBill,
  named?: NamedHold,
): Promise<PlacedHold | WorkProblem | HoldNotOpen | OtherHold> => {
  if (work.caller.role !== 'tenant') return { kind: 'held', hold_id: null, free: false };
  const hold_id = named?.hold_id ?? deps.clock.newId('hold');
  const data = await holdOf(deps, work, { ...named, hold_id });
  if ('code' in data) return data;
  const held = await holdCredits(deps, data, metaFor(deps, work));
  return held.kind === 'held' ? { ...held, hold_id } : held;
};

/** Gives the hold back. A failure here costs nothing: the hold expires. */
export const release = async (
  deps: BillingDeps,
  work: WorkToBill,
  { hold_id, reason }: { readonly hold_id: string | null; readonly reason: 'failed' | 'cancelled' },
): Promise<void> => {
  const { tenant_id } = work;
  if (hold_id !== null) await releaseHold(deps, { tenant_id, hold_id, reason }, metaFor(deps, work));
};

/** What the settlement of a hold says of the work. */
interface WorkSettlement {
  readonly hold_id: string | null;
  readonly usage_id: string;
  /** Members of the burn that reports group by. */
  readonly scope: { readonly project_id: string; readonly task_id: string; readonly document_id: string };
  readonly delivered: DeliveredWork;
}

const billOf = async (
  deps: BillingDeps,
  work: WorkToBill,
  { hold_id, usage_id, scope, delivered }: WorkSettlement,
): Promise<Bill | WorkProblem | HoldNotOpen | OtherHold> => {
  const { pages, tenant_id, operation_id } = work;
  const unbilled = { credits_used: 0, pages, balance_remaining: null };
  if (hold_id === null) return { kind: 'billed', cost: unbilled, free_pages: 0, position: undefined };
  const ids = { tenant_id, usage_id, job_id: null, api_key_id: work.caller.key_id };
  const settling = {
    operation_id,
    burn: { ...ids, pages, ...scope, delivered },
    meta: () => metaFor(deps, work),
    again: (anew: string) => holdOf(deps, work, { hold_id: anew }),
  };
  const settled = await settleOnce(deps, settling, hold_id);
  if (settled.kind !== 'settled') return settled;
  const { burn, position } = settled;
  // Another process may have billed it: what this one remembers can be older than the burn.
  const balance_remaining = settled.balance ?? (await deps.accounts.stateOf(tenant_id, 0)).balance;
  const cost = { credits_used: burn.credits, pages: burn.pages, balance_remaining };
  return { kind: 'billed', cost, free_pages: burn.free_pages, position };
};

/** Tries to settle before the caller is told to ask again, and the pause after the first of them, ms. */
const SETTLE_ATTEMPTS = 4;
const SETTLE_PAUSE_MS = 250;

/**
 * Settles work that was done, once, whatever happened before: the hold may be open, settled by a request
 * that never got its answer, or released because it ran out. An outcome that is not known, or cannot be
 * read now, is asked for again: work that is delivered is billed, and work that is not must not be.
 */
export const settleDone = async (
  deps: BillingDeps,
  work: WorkToBill,
  done: WorkSettlement,
): Promise<Bill | WorkProblem> => {
  for (let attempt = 1; attempt < SETTLE_ATTEMPTS; attempt += 1) {
    // An error that stays is thrown by the last attempt.
    const bill = await billOf(deps, work, done).catch(() => undefined);
    if (bill?.kind === 'billed' || (bill?.kind === 'problem' && bill.code !== 'busy')) return bill;
    await pause((deps.settlePauseMs ?? SETTLE_PAUSE_MS) * attempt);
  }
  const last = await billOf(deps, work, done);
  if (last.kind === 'billed' || last.kind === 'problem') return last;
  throw new Error(`hold ${String(done.hold_id)} is neither open nor settled`);
};
