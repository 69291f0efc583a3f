import { usageEndedAt } from '../../../domain/workEvents.ts';
import type { ObjectStore } from '../../../domain/ports/services.ts';
import { holdIdFor, suffixOf, workIdFor } from '../../../domain/leased.ts';
import { namedWork } from '../queue/namedWork.ts';
import type { DoWorkDeps } from './heldWork.ts';
import { resultShelf, type StoredResult } from './results/storedResult.ts';
import type { WorkPlan, WorkRequest } from './work.ts';
import { reused, type WorkProblem } from './workProblem.ts';

interface KeyedDeps extends Pick<DoWorkDeps, 'usage' | 'clock'> {
  readonly objects: ObjectStore;
}

/** The IDs of work: new ones, or those that follow from what its caller named it. */
export interface WorkIds {
  readonly operation_id: string;
  readonly document_id: string;
  readonly usage_id: string;
  /** undefined: a new one. */
  readonly hold_id: string | undefined;
  /** It was billed, and its result is lost: the work is done again for nothing. */
  readonly isPaid?: boolean;
}

/** As long as a replay is promised, ms. */
const KEPT_MS = 24 * 3_600_000;

/** A result, and the digest under which it is stored; undefined where it is not. */
export interface Result {
  readonly stored: StoredResult;
  readonly digest: string | undefined;
}

/** IDs of work that its caller did not name. */
export const newIds = (
  { clock }: Pick<KeyedDeps, 'clock'>,
  { document }: WorkRequest,
  prefix: WorkPlan['idPrefix'],
): WorkIds => ({
  operation_id: clock.newId(prefix),
  document_id: document?.document_id ?? clock.newId('doc'),
  usage_id: clock.newId('use'),
  hold_id: undefined,
});

/** The work that a request's key names, and what the log knows of it. */
export const keyed = async (
  { usage, clock }: KeyedDeps,
  { tenant_id, document }: WorkRequest,
  {
    plan,
    idempotency_key,
    fingerprint,
  }: { readonly plan: WorkPlan } & NonNullable<WorkRequest['idempotency']>,
) => {
  const { operation: kind, idPrefix } = plan;
  const { id, state } = await namedWork({
    idOf: (generation) => workIdFor(idPrefix, { tenant_id, kind, idempotency_key, generation }),
    stateOf: (operation_id) => usage.stateOf({ operation: kind, operation_id }),
    read: (one) => ({ since: usageEndedAt(one), isClosed: one.end?.happened === 'Failed' }),
    keptMs: KEPT_MS,
    now: clock.now(),
  });
  const suffix = suffixOf(id);
  const ids: WorkIds = {
    operation_id: id,
    document_id: document?.document_id ?? `doc_${suffix}`,
    usage_id: `use_${suffix}`,
    hold_id: holdIdFor(id, fingerprint),
  };
  return { ids, state };
};

/** What an earlier, interrupted request has stored for the work that a key names; a problem: it is another's. */
export const storedFor = async (
  deps: KeyedDeps,
  { tenant_id }: WorkRequest,
  { plan, fingerprint, idempotency_key, ...named }: Keyed,
): Promise<Result | WorkProblem | undefined> => {
  const shelf = resultShelf(deps.objects);
  if (named.state.requested !== null) {
    const result = await shelf.any(named.ids.operation_id);
    return result === undefined || result.stored.fingerprint === fingerprint ? result : reused();
  }
  const stored = await shelf.former({ tenant_id, endpoint: plan.endpoint, idempotency_key });
  if (stored?.fingerprint !== fingerprint) return undefined;
  if (Date.parse(deps.clock.now()) - Date.parse(stored.stored_at) >= KEPT_MS) return undefined;
  const { requested } = await deps.usage.stateOf({ ...stored, operation: plan.operation });
  return requested === null ? undefined : { stored, digest: undefined };
};

type Keyed = NonNullable<WorkRequest['idempotency']> & {
  readonly plan: WorkPlan;
} & Awaited<ReturnType<typeof keyed>>;
