import type { HoldCredits } from '../../../domain/account/commands.ts';
import type { AccountKind } from '../../../domain/account/decider.ts';
import type { CommandMeta } from '../../../domain/kernel/command.ts';
import type { Credits } from '../../../domain/kernel/units.ts';
import type { Clock } from '../../../domain/ports/clock.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import type { TrainingJobState } from '../../../domain/trainingJob/decider.ts';
import type { TrainingJobEventOf } from '../../../domain/trainingJob/events.ts';
import { holdIdOfJob, usageIdOfJob } from '../../../domain/trainingJob/identity.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import { findBurn } from '../work/findBurn.ts';
import type { Outcome } from '../writer/outcome.ts';
import { settleOnce } from '../work/settleOnce.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';

type Job = TrainingJobEventOf<'TrainingJobCreated'>['data'];

/** A job's price, and what it is set aside for. */
export interface JobPrice extends Pick<
  Job,
  'job_id' | 'tenant_id' | 'billing_type' | 'billing_config_version' | 'expires_at'
> {
  readonly credits: Credits;
}

export interface TrainingMoneyDeps {
  readonly accounts: Pick<AccountWriter, 'execute' | 'stateOf'>;
  readonly store: EventStore;
  readonly clock: Clock;
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote: (tenantId: string, position: bigint) => void;
}

/** A hold outlives its job by a day: time enough to settle, whatever was down meanwhile. */
const HOLD_GRACE_MS = 24 * 3_600_000;

const holdExpiry = (expires_at: string): string =>
  new Date(Date.parse(expires_at) + HOLD_GRACE_MS).toISOString();

/** What the service itself does to jobs: the worker's commands, and those of the reaper. */
export const systemMeta = ({ clock }: { readonly clock: Clock }, correlation_id: string): CommandMeta => ({
  now: clock.now(),
  actor: { key_id: 'system', role: 'system' },
  correlation_id,
  command_id: clock.uuid(),
});

const holdCommand = (price: JobPrice, hold_id: string, meta: CommandMeta): HoldCredits => ({
  type: 'HoldCredits',
  meta,
  data: {
    tenant_id: price.tenant_id,
    hold_id,
    operation_id: price.job_id,
    operation: 'training',
    category: 'training',
    extraction_mode: null,
    billing_type: price.billing_type,
    pages: 0,
    credits_per_page: 0 as Credits,
    free_pages_allowance: 0,
    billing_config_version: price.billing_config_version,
    flat_credits: price.credits,
    paid_plan_required: true,
    expires_at: holdExpiry(price.expires_at),
  },
});

const busy = (): WorkProblem =>
  workProblem('busy', 'The account is busy. Send the request again with the same Idempotency-Key.');

const heldOr = (outcome: Outcome<AccountKind>): WorkProblem | 'held' | 'other_price' => {
  if (outcome.kind === 'done') return 'held';
  if (outcome.kind !== 'rejected') return busy();
  const { rejection } = outcome;
  switch (rejection.code) {
    case 'plan_required':
      return planRequired(rejection.plan);
    case 'insufficient_credits':
      return tooLittle(rejection.required_credits, rejection.available_credits);
    case 'idempotency_key_reused':
      return 'other_price';
    default:
      throw new Error(`the hold of a training job was rejected with ${rejection.code}`);
  }
};

export const planRequired = (plan: string): WorkProblem =>
  workProblem('plan_required', 'Training needs a paid plan. Buy credits first: a first sale sets it.', {
    plan,
    required_plan: 'paid',
  });

export const tooLittle = (required_credits: number, available_credits: number): WorkProblem =>
  workProblem(
    'insufficient_credits',
    `This job costs ${String(required_credits)} credits and ${String(available_credits)} are ` +
      'available. Buy credits, or lower the tier or max_metric_calls.',
    { required_credits, available_credits },
  );

/**
 * Sets a job's price aside. The hold's ID follows from the job's, so a request that died right after this
 * finds it again; one at another price (a new billing config) is replaced.
 */
export const holdForJob = async (
  deps: TrainingMoneyDeps,
  price: JobPrice,
  meta: CommandMeta,
): Promise<WorkProblem | undefined> => {
  const hold_id = holdIdOfJob(price.job_id);
  const hold = async (command_id: string) =>
    heldOr(await deps.accounts.execute(holdCommand(price, hold_id, { ...meta, command_id })));
  let held = await hold(meta.command_id);
  if (held === 'other_price') {
    await release(deps, { tenant_id: price.tenant_id, hold_id }, { reason: 'cancelled', meta });
    held = await hold(deps.clock.uuid());
  }
  if (held === 'other_price') return busy();
  return held === 'held' ? undefined : held;
};

type Reason = 'failed' | 'cancelled';

/** Gives a hold back; one that is closed already stays so. True when it is closed. */
export const release = async (
  { accounts, clock }: Pick<TrainingMoneyDeps, 'accounts' | 'clock'>,
  { tenant_id, hold_id }: { readonly tenant_id: string; readonly hold_id: string },
  { reason, meta }: { readonly reason: Reason; readonly meta: CommandMeta },
): Promise<boolean> => {
  const outcome = await accounts.execute({
    type: 'ReleaseHold',
    data: { tenant_id, hold_id, reason },
    meta: { ...meta, command_id: clock.uuid() },
  });
  return outcome.kind === 'done' || outcome.kind === 'rejected';
};

const BILLED = { kind: 'billed' } as const;
/** The account did not answer, or has no room: the reaper asks again. */
const LATER = { kind: 'later' } as const;

const settle = async (deps: TrainingMoneyDeps, job: Job, hold_id: string) => {
  const outcome = await deps.accounts.execute({
    type: 'SettleHold',
    meta: systemMeta(deps, job.job_id),
    data: {
      tenant_id: job.tenant_id,
      usage_id: usageIdOfJob(job.job_id),
      hold_id,
      pages: 0,
      project_id: job.project_id,
      task_id: job.task_id,
      document_id: null,
      job_id: job.job_id,
      api_key_id: job.api_key_id,
    },
  });
  if (outcome.kind === 'rejected') return { kind: 'hold_not_open' } as const;
  if (outcome.kind !== 'done') return LATER;
  if (outcome.position !== undefined) deps.wrote(job.tenant_id, outcome.position);
  return BILLED;
};

/** The hold ran out: it is placed anew. The work was done under the plan of then. */
const holdAgain = async (deps: TrainingMoneyDeps, job: Job, hold_id: string) => {
  const meta = systemMeta(deps, job.job_id);
  const command = holdCommand({ ...job, expires_at: meta.now }, hold_id, meta);
  const data = { ...command.data, paid_plan_required: false };
  const placed = await deps.accounts.execute({ ...command, data });
  return placed.kind === 'done' ? 'held' : LATER;
};

const charge = async (deps: TrainingMoneyDeps, job: Job, hold_id: string): Promise<boolean> => {
  const { tenant_id, job_id: operation_id } = job;
  const settled = await settleOnce<typeof BILLED, typeof LATER>(
    {
      settle: (held) => settle(deps, job, held),
      earlier: async () =>
        (await findBurn(deps.store, tenant_id, { operation_id, hold_id })) === undefined ? undefined : BILLED,
      place: (held) => holdAgain(deps, job, held),
      giveBack: async (held) => {
        const unneeded = { reason: 'cancelled', meta: systemMeta(deps, operation_id) } as const;
        return (await release(deps, { tenant_id, hold_id: held }, unneeded)) ? BILLED : LATER;
      },
    },
    hold_id,
  );
  return settled.kind === 'billed';
};

/**
 * Closes the hold of a job that ended, once, whoever does it and however often: a job that succeeded is
 * charged, any other gives its hold back. False when it could not be done now: the reaper asks again.
 */
export const closeJobHold = async (deps: TrainingMoneyDeps, state: TrainingJobState): Promise<boolean> => {
  const { job, status } = state;
  if (job === null || job.hold_id === null) return true;
  const { tenant_id, job_id, hold_id } = job;
  if (status === 'succeeded') return charge(deps, job, hold_id);
  const reason = status === 'cancelled' ? 'cancelled' : 'failed';
  return release(deps, { tenant_id, hold_id }, { reason, meta: systemMeta(deps, job_id) });
};
