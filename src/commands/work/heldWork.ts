import type { BillingType } from '../../../domain/account/messages.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import type { KeptFile } from '@quire/engine/ports/keptFile';
import type { WorkToBill } from './billedWork.ts';
import { callLog, type LogCall } from './callLog.ts';
import type { ChosenModels } from '../models/models.ts';
import { ownKeyUse } from '../models/ownKeys.ts';
import type { StoredResult } from './results/storedResult.ts';
import type { KeptFacts } from '../unfinished/keptFacts.ts';
import type { WorkEndFact } from '../unfinished/workFact.ts';
import type { UsageLog } from './usageLog.ts';
import type { LongWork, WorkDone, WorkPlan, WorkRequest } from './work.ts';
import { parseProblem, workProblem, type WorkProblem } from './workProblem.ts';

export interface DoWorkDeps {
  readonly clock: Clock;
  readonly usage: Pick<UsageLog, 'requested' | 'stateOf'>;
  /** Takes how work ended to the log, now or later. */
  readonly facts: Pick<KeptFacts, 'record'>;
  /** Records what a call of a model used. */
  readonly logCall: LogCall;
}

/** Work on a document, and what it is billed by. */
export interface Work {
  readonly request: WorkRequest;
  readonly plan: WorkPlan;
  readonly bill: WorkToBill;
  readonly document_id: string;
  readonly hold_id: string | null;
  /** As in `CalledFor`. */
  readonly free: boolean;
}

/** Work on a file that is open, with the models for its format. */
export type NewWork = Work & {
  readonly models: ChosenModels;
  readonly mime_type: string;
  /** Of the whole document; the chosen ones are billed. */
  readonly document_pages: number;
  readonly kept: KeptFile;
  /** It was billed and has ended before: it is done again for its result alone. */
  readonly isPaid?: boolean;
  /** Of work that is tried again when it fails; left out: there is one. */
  readonly attempt?: number;
  readonly long?: LongWork | undefined;
};

/** Gives what tells the whole milliseconds that passed since this call. */
export const stopwatch = () => {
  const began = performance.now();
  return () => Math.round(performance.now() - began);
};

/** A burn says how its work ended, so a usage event that is late is only late. */
export const recordEnd = (
  { facts, clock }: Pick<DoWorkDeps, 'facts' | 'clock'>,
  { operation, operation_id, tenant_id, pages, correlation_id, caller }: WorkToBill,
  end: WorkEndFact['end'],
): Promise<void> =>
  facts.record({
    ...{ kind: 'work_end', operation, operation_id, tenant_id, pages, correlation_id, end },
    ended_at: clock.now(),
    actor: { key_id: caller.key_id, role: caller.role },
  });

interface Thrown {
  readonly kind: 'thrown';
  readonly error: unknown;
}

const thrown = (error: unknown): Thrown => ({ kind: 'thrown', error });

/** Does the work, and logs its calls of models, whatever came of it. Nothing is billed or given back. */
export const doWork = async (deps: DoWorkDeps, work: NewWork): Promise<WorkDone | WorkProblem | Thrown> => {
  const { request, plan, bill, document_id, models, kept, attempt, long } = work;
  const calls = callLog(deps.logCall, {
    bill,
    document_id,
    task_id: request.task_id,
    free_tier: work.free,
    ...(attempt !== undefined && { attempt }),
  });
  const tried = async () => {
    if (work.isPaid !== true && !(await deps.usage.requested(work))) return ENDED_ELSEWHERE;
    const { signal } = request;
    const { onCall, made } = calls;
    const done = await plan.run({
      ...{ operation_id: bill.operation_id, document_id, kept, models, signal, onCall, long },
      keyUse: () => ownKeyUse(models, made),
      elapsedMs: stopwatch(),
    });
    return request.signal.aborted ? parseProblem({ kind: 'aborted' }, plan.timedOut) : done;
  };
  const ran = await tried().catch(thrown);
  // Before it is settled: what it cost may not be forgotten once it is paid for.
  const unlogged = await calls.logged().then(() => undefined, thrown);
  return unlogged ?? ran;
};

/** Another process has ended the work: whatever came of it now could not be delivered. */
const ENDED_ELSEWHERE = workProblem(
  'busy',
  'The work has ended elsewhere. Send the request again in a moment.',
);

/** What work is billed by, from a request and the IDs that were made for it. */
export const workOf = (
  request: WorkRequest,
  plan: WorkPlan,
  ids: Pick<StoredResult, 'operation_id' | 'document_id' | 'pages'> & { readonly billing_type: BillingType },
) => ({
  request,
  plan,
  document_id: ids.document_id,
  bill: {
    operation: plan.operation,
    operation_id: ids.operation_id,
    tenant_id: request.tenant_id,
    mode: plan.mode,
    billing_type: ids.billing_type,
    pages: ids.pages,
    caller: request.caller,
    correlation_id: request.correlation_id,
  },
});
