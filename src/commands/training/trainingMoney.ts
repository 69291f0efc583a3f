import type { HoldCredits } from '../../../domain/account/commands.ts';
import type { CommandMeta } from '../../../domain/kernel/command.ts';
import { laterBy } from '../../../domain/kernel/instant.ts';
import { NO_CREDITS, type Credits } from '../../../domain/kernel/units.ts';
import type { Clock } from '../../../domain/ports/clock.ts';
import type { TrainingJobState } from '../../../domain/trainingJob/decider.ts';
import type { TrainingJobEventOf } from '../../../domain/trainingJob/events.ts';
import { holdIdOfJob, usageIdOfJob } from '../../../domain/trainingJob/identity.ts';
import { holdCredits, releaseHold, settleOnce, type HoldDeps } from '../work/holds.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';
import { systemMeta } from '../writer/commandMeta.ts';

type Job = TrainingJobEventOf<'TrainingJobCreated'>['data'];

/** A job's price, and what it is set aside for. */
export interface JobPrice extends Pick<
  Job,
  'job_id' | 'tenant_id' | 'billing_type' | 'billing_config_version' | 'expires_at'
> {
  readonly credits: Credits;
}

export interface TrainingMoneyDeps extends HoldDeps {
  readonly clock: Clock;
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote: (tenantId: string, position: bigint) => void;
}

/** A hold outlives its job by a day: time enough to settle, whatever was down meanwhile. */
const HOLD_GRACE_MS = 24 * 3_600_000;

const holdOf = (price: JobPrice, hold_id: string): HoldCredits['data'] => ({
  tenant_id: price.tenant_id,
  hold_id,
  operation_id: price.job_id,
  operation: 'training',
  category: 'training',
  extraction_mode: null,
  billing_type: price.billing_type,
  pages: 0,
  credits_per_page: NO_CREDITS,
  free_pages_allowance: 0,
  billing_config_version: price.billing_config_version,
  flat_credits: price.credits,
  paid_plan_required: true,
  expires_at: laterBy(price.expires_at, HOLD_GRACE_MS),
});

/**
 * Sets a job's price aside. The hold's ID follows from the job's, so a request that died right after this
 * finds it again; one at another price (a new billing config) is replaced.
 */
export const holdForJob = async (
  deps: TrainingMoneyDeps,
  price: JobPrice,
  meta: () => CommandMeta,
): Promise<WorkProblem | undefined> => {
  const { tenant_id, job_id } = price;
  const data = holdOf(price, holdIdOfJob(job_id));
  let held = await holdCredits(deps, data, meta());
  if (held.kind === 'other_hold') {
    await releaseHold(deps, { tenant_id, hold_id: data.hold_id, reason: 'cancelled' }, meta());
    held = await holdCredits(deps, data, meta());
  }
  if (held.kind === 'hold_not_open')
    throw new Error(`the hold of ${job_id} was closed before it was created`);
  if (held.kind === 'other_hold')
    return workProblem('busy', 'The account is busy. Send the request again in a moment.');
  return held.kind === 'held' ? undefined : held;
};

const charge = async (deps: TrainingMoneyDeps, job: Job, hold_id: string): Promise<boolean> => {
  const { tenant_id, job_id, project_id, task_id, api_key_id } = job;
  const ids = { tenant_id, usage_id: usageIdOfJob(job_id), project_id, task_id, job_id, api_key_id };
  const settling = {
    operation_id: job_id,
    burn: { ...ids, pages: 0, document_id: null },
    meta: () => systemMeta(deps, job_id),
    again: (anew: string) => {
      const data = holdOf({ ...job, expires_at: deps.clock.now() }, anew);
      // The work was done under the plan that the tenant had then.
      return Promise.resolve({ ...data, paid_plan_required: false });
    },
  };
  const settled = await settleOnce(deps, settling, hold_id);
  if (settled.kind !== 'settled') return false;
  if (settled.position !== undefined) deps.wrote(tenant_id, settled.position);
  return true;
};

/**
 * Closes the hold of a job that ended, once, whoever does it and however often: a job that succeeded is
 * charged, any other gives its hold back. False when it could not be done now: the reaper asks again.
 */
export const closeJobHold = async (
  deps: TrainingMoneyDeps,
  { job, status }: TrainingJobState,
): Promise<boolean> => {
  if (job === null || job.hold_id === null) return true;
  const { tenant_id, job_id, hold_id } = job;
  if (status === 'succeeded') return charge(deps, job, hold_id);
  const reason = status === 'cancelled' ? 'cancelled' : 'failed';
  return releaseHold(deps, { tenant_id, hold_id, reason }, systemMeta(deps, job_id));
};
