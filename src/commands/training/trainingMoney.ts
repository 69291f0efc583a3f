import type { HoldCredits } from '../../../domain/account/messages.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { NO_CREDITS, type Credits } from '../../../domain/kernel/amounts.ts';
import { NO_END } from '../../../domain/leased.ts';
import { type CreatedJob, type TrainingWork, usageIdOfJob } from '../../../domain/trainingJob.ts';
import type { CloseDeps, WorkMoney } from '../queue/closeWork.ts';
import { holdCredits, settleOnce, type Held } from '../work/holds.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import { dropSecrets } from '../operations/operationInput.ts';
import type { JobSecretDeps } from './trainingInput.ts';
import type { TrainingJobs } from './trainingJobs.ts';

/** A job's price, and the hold that it is set aside in. */
export interface JobPrice extends Pick<
  CreatedJob,
  'job_id' | 'tenant_id' | 'billing_type' | 'billing_config_version'
> {
  readonly credits: Credits;
  readonly hold_id: string;
}

export interface TrainingMoneyDeps extends CloseDeps, Pick<JobSecretDeps, 'objects'> {
  readonly jobs: TrainingJobs;
}

const holdOf = ({ credits, job_id, ...price }: JobPrice): HoldCredits['data'] => ({
  ...price,
  operation_id: job_id,
  operation: 'training',
  category: 'training',
  extraction_mode: null,
  pages: 0,
  credits_per_page: NO_CREDITS,
  free_pages_allowance: 0,
  flat_credits: credits,
  paid_plan_required: true,
  expires_at: NO_END,
});

/**
 * Sets a job's price aside. A request that died right after this finds its hold again, at the price that was set
 * aside then; another request under the same key does not.
 */
export const holdForJob = async (
  deps: TrainingMoneyDeps,
  price: JobPrice,
  meta: CommandMeta,
): Promise<Held | WorkProblem> => {
  const held = await holdCredits(deps, holdOf(price), meta);
  if (held.kind === 'hold_not_open')
    return workProblem('busy', 'This job has just ended. Send the request again in a moment.');
  return held.kind === 'other_hold'
    ? workProblem('idempotency_key_reused', 'This Idempotency-Key belongs to another training job.')
    : held;
};

/**
 * Charges a job that succeeded. Only in logs of older releases may its hold be gone before: then it is placed anew,
 * under the plan that the tenant had.
 */
const charged = async (deps: TrainingMoneyDeps, job: CreatedJob): Promise<boolean> => {
  const { tenant_id, job_id, project_id, task_id, api_key_id, hold_id } = job;
  if (hold_id === null) return true;
  const ids = { tenant_id, usage_id: usageIdOfJob(job_id), project_id, task_id, job_id, api_key_id };
  const meta = () => systemMeta(deps, job_id);
  const settling = { operation_id: job_id, burn: { ...ids, pages: 0, document_id: null }, meta };
  let settled = await settleOnce(deps, settling, hold_id);
  if (settled.kind === 'hold_not_open') {
    const { credits, billing_type, billing_config_version } = job;
    const data = holdOf({ job_id, tenant_id, billing_type, billing_config_version, credits, hold_id });
    const anew = await holdCredits(deps, { ...data, paid_plan_required: false, reopens: true }, meta());
    if (anew.kind === 'held') settled = await settleOnce(deps, settling, hold_id);
  }
  if (settled.kind !== 'settled') return false;
  if (settled.position !== undefined) deps.wrote(tenant_id, settled.position);
  return true;
};

/** How training jobs are billed and closed. What they learned from stays: it can be exported. */
export const jobMoney = (deps: TrainingMoneyDeps): WorkMoney<TrainingWork> => ({
  streams: deps.jobs,
  isHeldFor: ({ job_id }, operationId) => operationId === job_id,
  idOf: ({ job_id }) => job_id,
  bill: (job) => charged(deps, job),
  unbilled: () => Promise.resolve(),
  drop: ({ job_id }) => dropSecrets(deps.objects, job_id),
});
