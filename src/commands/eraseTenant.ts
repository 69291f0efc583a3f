import { documentIdOfKey, UPLOADS_PREFIX } from '../../domain/document.ts';
import { artifactKeyOf } from '../../domain/deployment.ts';
import {
  type Erasure,
  erasureCodec,
  erasures,
  ERASURES_STREAM,
  lastErasures,
  openErasures,
  type ErasuresKind,
} from '../../domain/erasure.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { Clock, EventStore, TextVault } from '../../domain/ports/log.ts';
import type { ObjectStore, ReplayStore } from '../../domain/ports/services.ts';
import { commandHandler } from '../writer/commandHandler.ts';
import { metaOf, SYSTEM } from '../writer/commandMeta.ts';
import { cachedStream } from '../writer/streamFold.ts';
import { evaluationFolderOf } from './evaluations.ts';
import { dropAll } from './operationInput.ts';
import { TRAINING_PREFIX } from './training.ts';
import type { Documents } from './uploads.ts';
import { workProblem, type WorkProblem } from './workProblem.ts';

/** A tenant's things that an event of their own takes away. */
type HeldKind =
  | 'key'
  | 'webhook'
  | 'operation'
  | 'batch'
  | 'job'
  | 'set'
  | 'table'
  | 'config'
  | 'deployment'
  | 'document';

/** Takes one thing away; false: it cannot be now. */
type Remove = (tenantId: string, id: string, meta: CommandMeta) => Promise<boolean>;

export interface EraseTenantDeps {
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly documents: Pick<Documents, 'stateOf'>;
  readonly replays: Pick<ReplayStore, 'forget'>;
  readonly forgetTexts: TextVault['forget'];
  readonly clock: Pick<Clock, 'now' | 'uuid'>;
  /** Some of what is left of an erasure, as the read models know, in the order in which it goes. */
  readonly heldBy: (erasure: Erasure) => Promise<readonly { readonly kind: string; readonly id: string }[]>;
  /** What objects are of, whatever is left of them: digests of artifacts, and IDs of jobs and of runs. */
  readonly learnedBy: (
    erasure: Erasure,
  ) => Promise<Readonly<Record<'artifacts' | 'jobs' | 'runs', readonly string[]>>>;
  readonly remove: Readonly<Record<HeldKind, Remove>>;
  /** Waits until the read models have what is in the log now. */
  readonly settle: (tenantId: string) => Promise<void>;
  /** Overwrites what a database keeps of deleted rows: in its files, and in the log that it writes ahead. */
  readonly scrub: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** What became of an erasure: `left` things cannot be taken away now, and are later. */
export interface ErasureReport extends Erasure {
  readonly removed: number;
  readonly left: number;
}

const handler = ({ store }: Pick<EraseTenantDeps, 'store'>) => {
  const rules = { decider: erasures, codec: erasureCodec, store };
  const handle = commandHandler<ErasuresKind>({ ...rules, tenantOf: ({ data }) => data.tenant_id });
  return (command: ErasuresKind['command']) => handle(ERASURES_STREAM, command);
};

interface Counted {
  removed: number;
  left: number;
}

/** False: it could not be done now. */
const attempted = async (
  { onError }: EraseTenantDeps,
  counts: Counted,
  work: () => Promise<boolean>,
): Promise<boolean> => {
  const isDone = await work().catch((error: unknown) => {
    onError(error);
    return false;
  });
  if (isDone) counts.removed += 1;
  return isDone;
};

/** Takes away, page by page, what has events of its own; each is tried once. */
const removeHeld = async (deps: EraseTenantDeps, erasure: Erasure, counts: Counted): Promise<void> => {
  const { tenant_id } = erasure;
  const kept = new Set<string>();
  for (;;) {
    await deps.settle(tenant_id);
    const page = (await deps.heldBy(erasure)).filter(({ kind, id }) => !kept.has(`${kind} ${id}`));
    for (const { kind, id } of page) {
      // Once is enough, gone or not: read models that are late would give it again.
      kept.add(`${kind} ${id}`);
      const meta = metaOf(deps, SYSTEM, `erase-${tenant_id}`);
      await attempted(deps, counts, () => deps.remove[kind as HeldKind](tenant_id, id, meta));
    }
    if (page.length > 0) continue;
    counts.left += (await deps.heldBy(erasure)).length;
    return;
  }
};

/** Uploads that were not used by then are in no read model, or as new ones: their streams say whose they are. */
const removeUnused = async (deps: EraseTenantDeps, erasure: Erasure, counts: Counted): Promise<void> => {
  for await (const { key } of deps.objects.list(UPLOADS_PREFIX)) {
    const id = documentIdOfKey(key);
    if (id === undefined) continue;
    const { presigned, registered } = await deps.documents.stateOf(id);
    const isTheirs = presigned?.tenant_id === erasure.tenant_id && presigned.created_at <= erasure.erased_at;
    if (!isTheirs || (registered !== null && registered.created_at <= erasure.erased_at)) continue;
    const meta = metaOf(deps, SYSTEM, `erase-${erasure.tenant_id}`);
    const isGone = await attempted(deps, counts, () => deps.remove.document(erasure.tenant_id, id, meta));
    if (!isGone) counts.left += 1;
  }
};

/** Takes away whatever is there. Once more does no harm, also where an earlier time was cut short. */
const removeAll = async (deps: EraseTenantDeps, erasure: Erasure): Promise<ErasureReport> => {
  const counts: Counted = { removed: 0, left: 0 };
  const { tenant_id, erased_at: until } = erasure;
  await deps.forgetTexts({ tenant_id, until });
  await removeHeld(deps, erasure, counts);
  await removeUnused(deps, erasure, counts);
  const { artifacts, jobs, runs } = await deps.learnedBy(erasure);
  for (const digest of artifacts) await deps.objects.remove(artifactKeyOf(digest));
  for (const job of jobs) await dropAll(deps.objects, `${TRAINING_PREFIX}${job}/`);
  // The report of a run has names of fields, which are the tenant's words.
  for (const run of runs) await dropAll(deps.objects, evaluationFolderOf(run));
  await deps.replays.forget(erasure.tenant_id);
  await deps.scrub();
  return { ...erasure, ...counts };
};

/** How long a request waits for what it asked for, ms; it goes on after that. */
const PATIENCE_MS = 20_000;

/**
 * Erases a tenant. The event is written first: the repeat or the sweeper removes whatever a crash leaves.
 * `left` is null if it continues after the answer.
 */
export const eraseTenant = (deps: EraseTenantDeps) => {
  const handle = handler(deps);
  return async (
    tenant_id: string,
    meta: CommandMeta,
  ): Promise<(Omit<ErasureReport, 'left'> & { readonly left: number | null }) | WorkProblem> => {
    const outcome = await handle({ type: 'EraseTenant', data: { tenant_id }, meta });
    if (outcome.kind !== 'done' || outcome.position === undefined)
      return workProblem(
        'busy',
        'The event log did not take it in time. Send the request again in a moment.',
      );
    const erasure = { tenant_id, erased_at: meta.now, position: outcome.position };
    const removing = removeAll(deps, erasure);
    removing.catch(deps.onError);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
    });
    const report = await Promise.race([removing, late]).finally(() => clearTimeout(timer));
    return report ?? { ...erasure, removed: 0, left: null };
  };
};

/**
 * When the data of a tenant were erased last, as the log has it now; null: never. The stream of all erasures is read on
 * from where the last call stopped.
 */
export const lastErasureIn = (store: EventStore) => {
  const known = cachedStream(
    { store, stream: ERASURES_STREAM, maxAgeMs: 0 },
    { ...lastErasures, codec: erasureCodec },
  );
  return async (tenantId: string): Promise<string | null> => (await known.refresh()).get(tenantId) ?? null;
};

/** Work that ran when its tenant was erased has ended so long after it, ms. */
const SETTLED_MS = 3_600_000;

/**
 * Finishes what requests have left. An erasure ends when an hour after it nothing is found. The stream of erasures is
 * read on from where the last sweep stopped, and back to the oldest erasure that is open.
 */
export const sweepErasures = (deps: EraseTenantDeps) => {
  const handle = handler(deps);
  const known = cachedStream(
    { store: deps.store, stream: ERASURES_STREAM, maxAgeMs: 0 },
    { initialState: erasures.initialState, evolve: erasures.evolve, codec: erasureCodec },
  );
  return async (): Promise<Counted> => {
    const counts: Counted = { removed: 0, left: 0 };
    const { open } = await known.refresh();
    for (const erasure of await openErasures(deps.store, open)) {
      const { removed, left } = await removeAll(deps, erasure);
      counts.removed += removed;
      counts.left += left;
      const meta = metaOf(deps, SYSTEM, `erase-${erasure.tenant_id}`);
      if (removed + left > 0 || meta.now < laterBy(erasure.erased_at, SETTLED_MS)) continue;
      const { tenant_id, erased_at } = erasure;
      await handle({ type: 'EndErasure', data: { tenant_id, erased_at }, meta });
    }
    return counts;
  };
};
