import { accountStream } from '../../../domain/account/messages.ts';
import { deterministicEventId } from '../../../domain/kernel/chain.ts';
import { laterBy } from '../../../domain/kernel/amounts.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import { releaseHold } from '../work/holds.ts';
import { SYSTEM } from '../writer/commandMeta.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import type { Payments } from '../payments/payments.ts';
import { sweeperOf, type Sweeper } from './sweeper.ts';

/** A hold that a read model lists as open. */
export interface OpenHold {
  readonly tenant_id: string;
  readonly hold_id: string;
}

export interface HoldSweeperDeps {
  readonly writer: AccountWriter;
  readonly payments: Pick<Payments, 'finishClaim'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Open holds whose `expires_at` is before `now`, oldest first. May be late; the account decides. */
  readonly openHoldsBefore: (now: string, limit: number) => Promise<readonly OpenHold[]>;
  /** Payment streams claimed before `before` whose claim has neither an effect nor a release. */
  readonly openClaimsBefore: (before: string, limit: number) => Promise<readonly string[]>;
  readonly everyMs?: number;
  readonly onSweep?: (report: SweepReport) => void;
  readonly onError?: (error: unknown) => void;
}

interface SweepReport {
  readonly released: number;
  readonly finished: number;
  /** Holds and claims that could not be settled now; the next sweep tries again. */
  readonly left: number;
}

/** Sweeps every minute. */
export type HoldSweeper = Sweeper<SweepReport>;

const HOLDS_PAGE = 500;
/** A younger claim may still be in its own request's hands. */
const CLAIM_AGE_MS = 60_000;

/** Releases holds that ran out and settles claims that a crash left open. Runs safely beside others. */
export const holdSweeper = (deps: HoldSweeperDeps): HoldSweeper =>
  sweeperOf(() => sweepHolds(deps), { everyMs: deps.everyMs ?? 60_000, onError: deps.onError });

const sweepHolds = async (deps: HoldSweeperDeps): Promise<SweepReport> => {
  const now = deps.clock.now();
  const holds = await deps.openHoldsBefore(now, HOLDS_PAGE);
  const released = await settleEach(deps, holds, (hold) => releaseExpired(deps, hold, now));
  const before = laterBy(now, -CLAIM_AGE_MS);
  const claims = await deps.openClaimsBefore(before, HOLDS_PAGE);
  const finished = await settleEach(deps, claims, (stream) => finishClaim(deps, stream));
  const left = holds.length + claims.length - released - finished;
  const report = { released, finished, left };
  deps.onSweep?.(report);
  return report;
};

/** Counts what was settled. One that fails does not keep the others from being tried. */
const settleEach = async <Item>(
  { onError }: HoldSweeperDeps,
  items: readonly Item[],
  settle: (item: Item) => Promise<boolean>,
): Promise<number> => {
  let settled = 0;
  for (const item of items) {
    try {
      if (await settle(item)) settled += 1;
    } catch (error) {
      onError?.(error);
    }
  }
  return settled;
};

/**
 * A hold is released once whoever comes first, for the account releases only what is open. The command ID
 * names the instant of the list: a retry may hold the same anew, and that has to be released anew when it runs out.
 */
const releaseExpired = async (
  { writer: accounts, clock }: HoldSweeperDeps,
  { tenant_id, hold_id }: OpenHold,
  listedAt: string,
): Promise<boolean> => {
  const command_id = deterministicEventId(accountStream(tenant_id), `expire ${hold_id} ${listedAt}`, 0);
  const meta = { now: clock.now(), actor: SYSTEM, correlation_id: `sweep-${hold_id}`, command_id };
  return (await releaseHold({ accounts }, { tenant_id, hold_id, reason: 'expired' }, meta)) !== 'not_now';
};

const finishClaim = async ({ payments, clock }: HoldSweeperDeps, stream: string): Promise<boolean> => {
  const outcome = await payments.finishClaim(stream, clock.now());
  return outcome === undefined || outcome.kind === 'done' || outcome.kind === 'rejected';
};
