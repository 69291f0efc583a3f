import type { PinnedLookup } from '../../domain/rules/checks.ts';
import { ratedOperation, type RatedOperation } from '../../domain/account/messages.ts';
import { z } from 'zod';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { llmCostLogged } from '../../domain/llmCost.ts';
import { instant, laterBy, pages, tenantId } from '../../domain/kernel/amounts.ts';
import { type Clock, type EventStore, LogUnavailable } from '../../domain/ports/log.ts';
import { type Sweeper, sweeperOf } from '../writer/sweeper.ts';
import { metaOf, SYSTEM } from '../writer/commandMeta.ts';
import { type HoldDeps, wasGivenUp } from './holds.ts';
import {
  classificationEvent,
  conversionEvent,
  extractionEvent,
  usage,
  type UsageFact,
  type UsageKind,
  type UsageState,
  splitEvent,
  WORKS,
  workStream,
} from '../../domain/workEvents.ts';
import type { DocumentEvent } from '../../domain/document.ts';
import { withTags } from '../../domain/kernel/tags.ts';
import { type Codec, eventCodec } from '../../domain/kernel/codec.ts';
import { actor, type CommandMeta, type DomainEvent } from '../../domain/kernel/decider.ts';
import type { ChosenModels } from './models.ts';
import { documents } from './uploads.ts';
import { type HandlerOptions, streamsOf } from '../writer/commandHandler.ts';
import type { NotNow } from '../writer/decideBatch.ts';
import { WAITED_MAX_MS, type WorkPlan, type WorkRequest, type WorkToBill } from './work.ts';

/** A call of a model that was paid for: all of its cost entry but the cost, which the prices tell. */
const modelCall = z.strictObject({
  kind: z.literal('model_call'),
  entry: llmCostLogged.shape.data
    .omit({ cost_usd: true, cost_source: true, created_at: true })
    .extend({ entry_id: z.string() }),
  correlation_id: z.string(),
  actor,
});
export type ModelCallFact = z.output<typeof modelCall>;

/** How an extraction or conversion ended. */
const workEnd = z.strictObject({
  kind: z.literal('work_end'),
  operation: ratedOperation,
  operation_id: z.string(),
  tenant_id: tenantId,
  pages,
  end: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('completed'),
      status: z.enum(['success', 'partial']),
      free_pages: pages,
      duration_ms: z.number().int().min(0),
      result_sha256: z.string().optional(),
    }),
    z.strictObject({ kind: z.literal('failed'), code: z.string() }),
  ]),
  ended_at: instant,
  correlation_id: z.string(),
  actor,
});
export type WorkEndFact = z.output<typeof workEnd>;

/** What work has done and the log has to know in the end, whatever is away meanwhile. */
export const workFact = z.discriminatedUnion('kind', [modelCall, workEnd]);
export type WorkFact = z.output<typeof workFact>;

/** The same fact has the same name, and facts of different names never mean the same. */
export const nameOfFact = (fact: WorkFact): string =>
  fact.kind === 'model_call'
    ? `call-${fact.entry.entry_id.replaceAll(':', '.')}`
    : `end-${fact.operation_id}`;

/** Where facts are stored that the log does not have yet. Only the process that wrote one to the log removes it. */
export const UNFINISHED_PREFIX = 'unfinished/';

const stored = z.strictObject({ version: z.literal(1), fact: workFact });

const keyOf = (fact: WorkFact): string => `${UNFINISHED_PREFIX}${nameOfFact(fact)}`;

/** Facts in the object store, until the log has them. */
export const factShelf = (objects: Pick<ObjectStore, 'put' | 'get' | 'list' | 'remove'>) => ({
  put: (fact: WorkFact): Promise<void> =>
    objects.put(keyOf(fact), new TextEncoder().encode(JSON.stringify({ version: 1, fact }))),

  remove: (fact: WorkFact): Promise<void> => objects.remove(keyOf(fact)),

  keys: async function* (): AsyncGenerator<string> {
    for await (const { key } of objects.list(UNFINISHED_PREFIX)) yield key;
  },

  /** undefined when it was removed meanwhile; throws for one that a newer release wrote, or nobody. */
  read: async (key: string): Promise<WorkFact | undefined> => {
    const bytes = await objects.get(key);
    if (bytes === undefined) return undefined;
    const parsed = stored.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
    if (parsed.success) return parsed.data.fact;
    throw new Error(`${key} is no fact that this release can read`);
  },
});

type FactShelf = ReturnType<typeof factShelf>;

interface KeptFactsDeps {
  readonly shelf: FactShelf;
  /** Appends a fact; one that the log has already changes nothing. Throws when the log did not take it. */
  readonly append: (fact: WorkFact) => Promise<void>;
  /** Told of a fact that has to wait. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

interface FactSweep {
  readonly model_calls: number;
  readonly work_ends: number;
  readonly left: number;
}

/** Facts on their way to the log. */
export interface KeptFacts {
  /**
   * Writes a fact to the log, or keeps it for the sweeper. A call of a model is kept first, since its
   * process may die before the log answers. Throws for a call that neither the log nor the object store
   * took: then only this process knows it, and each of its sweeps tries again.
   */
  readonly record: (fact: WorkFact) => Promise<void>;
  /** Writes all that was kept, by whichever process, and that the log takes now. */
  readonly finish: () => Promise<FactSweep>;
  /** A last try for what only this process knows. */
  readonly close: () => Promise<void>;
}

/** Repeats are harmless, so neither a crash between two steps nor two processes at once double anything. */
export const keptFacts = ({ shelf, append, onError }: KeptFactsDeps): KeptFacts => {
  /** What neither the log nor the object store took. */
  const unsaved = new Map<string, WorkFact>();

  /** Whether it was done; a failure is reported. */
  const tried = async (work: Promise<unknown>): Promise<boolean> => {
    try {
      await work;
      return true;
    } catch (error) {
      onError?.(error);
      return false;
    }
  };

  const keep = async (fact: WorkFact): Promise<boolean> => {
    const kept = await tried(shelf.put(fact));
    if (!kept) unsaved.set(nameOfFact(fact), fact);
    return kept;
  };

  /** An object that stays behind is found by the next sweep, and the log has its fact already. */
  const written = async (fact: WorkFact): Promise<void> => {
    await append(fact);
    unsaved.delete(nameOfFact(fact));
    await tried(shelf.remove(fact));
  };

  const recordCall = async (fact: WorkFact): Promise<void> => {
    const kept = await keep(fact);
    if (kept) await tried(written(fact));
    else await written(fact);
  };

  const recordEnd = async (fact: WorkFact): Promise<void> => {
    if (!(await tried(append(fact)))) await keep(fact);
  };

  const kept = async function* (): AsyncGenerator<() => Promise<WorkFact | undefined>> {
    for (const fact of [...unsaved.values()]) yield () => Promise.resolve(fact);
    for await (const key of shelf.keys()) yield () => shelf.read(key);
  };

  const finishOne = async (read: () => Promise<WorkFact | undefined>): Promise<WorkFact['kind'] | 'gone'> => {
    const fact = await read();
    if (fact === undefined) return 'gone';
    await written(fact);
    return fact.kind;
  };

  return {
    record: (fact) => (fact.kind === 'model_call' ? recordCall(fact) : recordEnd(fact)),
    finish: async () => {
      const done = { model_call: 0, work_end: 0, gone: 0, left: 0 };
      for await (const read of kept()) {
        const became = await finishOne(read).catch((error: unknown) => {
          onError?.(error);
          return 'left' as const;
        });
        done[became] += 1;
      }
      return { model_calls: done.model_call, work_ends: done.work_end, left: done.left };
    },
    close: async () => {
      await Promise.all(
        [...unsaved.values()].map(async (fact) => (await keep(fact)) || tried(written(fact))),
      );
    },
  };
};

/** A burned extraction or conversion whose usage event a read model does not know. */
export interface UnrecordedWork {
  readonly operation_id: string;
  readonly operation: WorkEndFact['operation'];
  readonly tenant_id: string;
  readonly pages: number;
  readonly free_pages: number;
  readonly status: 'success' | 'partial';
  readonly duration_ms: number;
  readonly burned_at: string;
}

/** An extraction or conversion that was asked for and has neither an open hold nor an end. */
export type AbandonedWork = Pick<WorkEndFact, 'operation' | 'operation_id' | 'tenant_id' | 'pages'> & {
  /** The one that it was asked for under; null: it is not billed. */
  readonly hold_id: string | null;
};

interface UnfinishedSweeperDeps extends HoldDeps {
  readonly facts: KeptFacts;
  /** Throws while the log is away: then a sweep would only wait, fact by fact. */
  readonly checkLog: () => Promise<unknown>;
  /** Burned before `before`, oldest first. May be late; the stream of the work decides. */
  readonly unrecordedBefore: (before: string, limit: number) => Promise<readonly UnrecordedWork[]>;
  /** Asked for before these instants, oldest first. May be late; the account decides. */
  readonly abandonedBefore: (
    before: { readonly held: string; readonly unheld: string },
    limit: number,
  ) => Promise<readonly AbandonedWork[]>;
  readonly clock: Pick<Clock, 'now'>;
  readonly everyMs?: number;
  readonly onSweep?: (report: UnfinishedSweep) => void;
  readonly onError?: (error: unknown) => void;
}

export interface UnfinishedSweep {
  readonly model_calls: number;
  readonly usage_events: number;
  /** Could not be written now; the next sweep tries again. */
  readonly left: number;
}

/** Sweeps every minute. */
export type UnfinishedSweeper = Sweeper<UnfinishedSweep>;

const PAGE = 500;
/** A younger burn is still in its own request's hands. */
const BURN_AGE_MS = 10_000;
/** Younger work without a hold may be between two steps, or a read model late. */
const ABANDONED_AGE_MS = 10 * 60_000;

/** Younger work that is not billed may still be done: no caller waits for longer. */
const UNHELD_AGE_MS = WAITED_MAX_MS + ABANDONED_AGE_MS;

/** Writes the usage events and cost entries that an outage or a crash kept out of the log. Many may run at once. */
export const unfinishedSweeper = (deps: UnfinishedSweeperDeps): UnfinishedSweeper =>
  sweeperOf(() => sweepOnce(deps), { everyMs: deps.everyMs ?? 60_000, onError: deps.onError });

/** The usage event as its own request would have written it: the burn says what it needs. */
const endOf = ({ burned_at, status, duration_ms, free_pages, ...work }: UnrecordedWork): WorkEndFact => ({
  kind: 'work_end',
  ...work,
  end: { kind: 'completed', status, free_pages, duration_ms },
  ended_at: burned_at,
  correlation_id: `sweep-${work.operation_id}`,
  actor: SYSTEM,
});

const sweepOnce = async (deps: UnfinishedSweeperDeps): Promise<UnfinishedSweep> => {
  await deps.checkLog();
  const kept = await deps.facts.finish();
  const before = laterBy(deps.clock.now(), -BURN_AGE_MS);
  const burned = await deps.unrecordedBefore(before, PAGE);
  for (const work of burned) await deps.facts.record(endOf(work));
  const failed = await failAbandoned(deps);
  const report = {
    model_calls: kept.model_calls,
    usage_events: kept.work_ends + burned.length + failed,
    left: kept.left,
  };
  deps.onSweep?.(report);
  return report;
};

/** Work whose process died, and whose hold, if it had one, was given back since, has failed. Gives how many. */
const failAbandoned = async (deps: UnfinishedSweeperDeps): Promise<number> => {
  const now = deps.clock.now();
  const before = { held: laterBy(now, -ABANDONED_AGE_MS), unheld: laterBy(now, -UNHELD_AGE_MS) };
  let failed = 0;
  for (const { hold_id, ...work } of await deps.abandonedBefore(before, PAGE)) {
    if (!(await wasGivenUp(deps, { ...work, hold_id }))) continue;
    const how = { kind: 'work_end', end: { kind: 'failed', code: 'internal_error' }, ended_at: now } as const;
    await deps.facts.record({ ...work, ...how, correlation_id: `sweep-${work.operation_id}`, actor: SYSTEM });
    failed += 1;
  }
  return failed;
};

interface RequestedWork {
  readonly request: WorkRequest;
  readonly plan: WorkPlan;
  readonly models: ChosenModels;
  readonly bill: WorkToBill;
  readonly document_id: string;
  readonly hold_id: string | null;
  readonly mime_type: string;
  readonly document_pages: number;
}

/** Which work, by the name of its stream. */
type WorkName = Pick<WorkEndFact, 'operation' | 'operation_id'>;

/**
 * The usage events of extractions and conversions: measured work, without prices. What writes throws LogUnavailable
 * when an event was not written, or may not have been.
 */
export interface UsageLog {
  /** Also registers the document. False: the work has ended already, and nobody is to do it. */
  readonly requested: (work: RequestedWork) => Promise<boolean>;
  readonly ended: (end: WorkEndFact) => Promise<void>;
  /** From the log. */
  readonly stateOf: (work: WorkName) => Promise<UsageState>;
  /** Whether a document was erased, from the log. */
  readonly isErased: (documentId: string) => Promise<boolean>;
}

interface UsageLogDeps {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly wrote: (tenantId: string, position: bigint) => void;
  readonly options?: HandlerOptions;
}

/** Checks each event of a kind of work against its schema. */
const CODECS = {
  extract: eventCodec<DomainEvent>(extractionEvent),
  to_markdown: eventCodec<DomainEvent>(conversionEvent),
  classify: eventCodec<DomainEvent>(classificationEvent),
  split: eventCodec<DomainEvent>(splitEvent),
} satisfies Readonly<Record<RatedOperation, Codec<DomainEvent>>>;

const documentOf = (work: RequestedWork, created_at: string): DocumentEvent => {
  const { request, plan, bill, document_id, mime_type, document_pages } = work;
  const { file_name, bytes, sha256 } = request.file;
  return {
    type: 'DocumentRegistered',
    data: {
      document_id,
      tenant_id: bill.tenant_id,
      project_id: request.project_id,
      task_id: request.task_id,
      file_name,
      mime_type,
      bytes,
      pages: document_pages,
      sha256,
      source: request.document?.source ?? plan.operation,
      created_at,
    },
  };
};

/** The versions of tables that the look-ups of a config use, each once. */
const lookupTablesOf = (lookups: readonly PinnedLookup[] = []) => {
  const used = new Map(
    lookups.flatMap(({ table_id, version }) => (version === null ? [] : [[table_id, version] as const])),
  );
  if (used.size === 0) return {};
  return { lookup_tables: [...used].map(([table_id, version]) => ({ table_id, version })) };
};

/** The saved config that completed a request; nothing where there is none. */
const configOf = ({ task }: WorkPlan) => {
  if (task.kind !== 'extract' || task.config === null) return {};
  const { config_id, version: config_version } = task.config;
  return { config_id, config_version, ...lookupTablesOf(task.lookups) };
};

const requestedFact = (
  { request, plan, models, bill, document_id, hold_id }: RequestedWork,
  requested_at: string,
): UsageFact => ({
  happened: 'Requested',
  data: {
    ...configOf(plan),
    tenant_id: bill.tenant_id,
    project_id: request.project_id,
    task_id: request.task_id,
    document_id,
    document_sha256: request.file.sha256,
    mode: bill.mode,
    billing_type: bill.billing_type,
    model: models.model,
    ocr_model: models.ocr_model,
    pages: bill.pages,
    hold_id,
    api_key_id: bill.caller.key_id,
    ...(bill.fingerprint !== undefined && { fingerprint: bill.fingerprint }),
    ...withTags(bill.tags),
    requested_at,
  },
});

const endedFact = ({ tenant_id, pages, ended_at, end }: WorkEndFact): UsageFact => {
  if (end.kind === 'failed')
    return { happened: 'Failed', data: { tenant_id, code: end.code, failed_at: ended_at } };
  const { kind: _, ...done } = end;
  return { happened: 'Completed', data: { tenant_id, pages, ...done, completed_at: ended_at } };
};

export const usageLog = (deps: UsageLogDeps): UsageLog => {
  const { store, options } = deps;
  const registered = documents(store, options);
  const streamsFor = ({ operation, operation_id }: WorkName) => {
    const { event, id } = WORKS[operation];
    const codec: Codec<DomainEvent> = CODECS[operation];
    const eventOf = ({ happened, data }: UsageFact): DomainEvent => ({
      type: `${event}${happened}`,
      data: { [id]: operation_id, ...data },
    });
    return streamsOf<UsageKind>(
      { decider: usage(eventOf), codec, streamOf: (name) => workStream(operation, name) },
      store,
      options,
    );
  };
  const written = async <State>(
    tenantId: string,
    append: Promise<
      { readonly kind: 'done'; readonly position: bigint | undefined; readonly state: State } | NotNow
    >,
  ): Promise<State> => {
    const outcome = await append;
    if (outcome.kind !== 'done') throw new LogUnavailable(`a usage event was not written: ${outcome.kind}`);
    if (outcome.position !== undefined) deps.wrote(tenantId, outcome.position);
    return outcome.state;
  };
  const record = (work: WorkName, data: UsageFact, meta: CommandMeta) =>
    written(
      data.data.tenant_id,
      neverRejected(
        streamsFor(work).handle(work.operation_id, { type: 'Record', data, meta }, data.data.tenant_id),
      ),
    );
  return {
    requested: async (work) => {
      const { caller, correlation_id, tenant_id } = work.bill;
      const first = metaOf(deps, caller, correlation_id);
      await written(tenant_id, neverRejected(registered.record(documentOf(work, first.now), first)));
      const meta = metaOf(deps, caller, correlation_id);
      return (await record(work.bill, requestedFact(work, meta.now), meta)).end === null;
    },
    ended: async (fact) => {
      await record(fact, endedFact(fact), metaOf(deps, fact.actor, fact.correlation_id));
    },
    stateOf: (work) => streamsFor(work).stateOf(work.operation_id),
    isErased: async (documentId) => (await registered.stateOf(documentId)).erased !== null,
  };
};

/** Streams that record reject nothing. */
const neverRejected = async <Result extends { readonly kind: string }>(
  outcome: Promise<Result | { readonly kind: 'rejected' }>,
): Promise<Exclude<Result, { readonly kind: 'rejected' }>> => {
  const became = await outcome;
  if (became.kind === 'rejected') throw new Error('a usage event was rejected');
  return became as Exclude<Result, { readonly kind: 'rejected' }>;
};
