import { z } from 'zod';
import { ownMember } from '@quire/engine/kernel/json';
import { eachOf } from '@quire/engine/models/byModel/modelWorkDeps';
import { resolveLocal } from '@quire/engine/kernel/schemaReference';
import { evaluated, type BatchState } from '../../domain/batch.ts';
import {
  batchIdOfRun,
  evaluation,
  evaluationEvent,
  type EvaluationEvent,
  evaluationSet,
  evaluationSetEvent,
  type EvaluationSetKind,
  type EvaluationSetState,
  type EvaluationSetVersion,
  evaluationStream,
  leafCounts,
  runIdOfBatch,
  setIdFor,
  setStream,
  setVersion,
} from '../../domain/evaluation.ts';
import { isDocumentId } from '../../domain/document.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { canonicalJson, sha256 } from '../../domain/kernel/chain.ts';
import type { CommandMeta, RecorderKind } from '../../domain/kernel/decider.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import type { TrainingExample } from '../../domain/ports/trainer.ts';
import { streamsOf } from '../writer/commandHandler.ts';
import { getOrAside } from '../writer/setAside.ts';
import { withSealed } from '../writer/vault.ts';
import type { Outcome } from '../writer/decideBatch.ts';
import type { BatchCommands, BatchRequest } from './batches.ts';
import { dropAll } from './operationInput.ts';
import { namedWork } from './queue.ts';
import type { DecidedExamples, DecisionsRequest } from './reviews.ts';
import type { trainingExamples } from './trainingExamples.ts';
import { misfit, reused, workProblem, type WorkProblem } from './workProblem.ts';

/** Where what documents are expected to say, and what runs found, lies: by set or run, by document, by digest. */
export const EVALUATIONS_PREFIX = 'evaluations/';

/** Of a run, beside the folders of its documents. */
const REPORT = 'report';
const SCHEMA = 'schema';

/** Where everything lies that a set or run keeps. */
export const evaluationFolderOf = (id: string): string => `${EVALUATIONS_PREFIX}${id}/`;

const keyOf = (id: string, name: string, digest: string): string =>
  `${evaluationFolderOf(id)}${name}/${digest}`;

/** Where it lies what a document of a set is expected to say, and the report of a run. */
export const expectedKeyOf = keyOf;
export const reportKeyOf = (runId: string, digest: string): string => keyOf(runId, REPORT, digest);

/** Where the schema of a run lies. */
export const schemaKeyOf = (runId: string, digest: string): string => keyOf(runId, SCHEMA, digest);

/** The document of which an object keeps something; undefined for a report, and for all that lies elsewhere. */
export const documentIdOfEvaluation = (key: string): string | undefined => {
  const [, id] =
    /^evaluations\/[A-Za-z0-9_-]+\/(doc_[A-Za-z0-9-]+)\/[0-9a-f]{64}(?:\.aside)?$/.exec(key) ?? [];
  return id !== undefined && isDocumentId(id) ? id : undefined;
};

/** JSON in object storage, each under its digest: none takes another's place. */
const shelf = <Schema extends z.ZodType>(schema: Schema, objects: Pick<ObjectStore, 'put' | 'get'>) => ({
  put: async (id: string, name: string, value: z.input<Schema>): Promise<string> => {
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    const digest = sha256(bytes);
    await objects.put(keyOf(id, name, digest), bytes);
    return digest;
  },
  /** undefined when it is not there any more, or was changed. */
  get: async (id: string, name: string, digest: string): Promise<z.output<Schema> | undefined> => {
    const bytes = await getOrAside(objects, keyOf(id, name, digest));
    if (bytes === undefined || sha256(bytes) !== digest) return undefined;
    return schema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  },
});

const expectedShape = z.record(z.string(), z.unknown()).transform((value) => value as JsonObject);

/** The schema that a run is asked with, by the digest of its canonical form. */
export const runSchemas = (objects: Pick<ObjectStore, 'put' | 'get'>) => {
  return {
    put: async (runId: string, schema: JsonObject): Promise<string> => {
      const text = canonicalJson(schema);
      await objects.put(schemaKeyOf(runId, sha256(text)), new TextEncoder().encode(text));
      return sha256(text);
    },
    get: async (runId: string, digest: string): Promise<JsonObject | undefined> => {
      const bytes = await getOrAside(objects, schemaKeyOf(runId, digest));
      return bytes && expectedShape.parse(JSON.parse(new TextDecoder().decode(bytes)));
    },
  };
};

const objectIn = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

/** References and alternatives that are followed on the way to one member of a schema. */
const STEPS_MAX = 200;

/** Every schema that may stand at one place: what it refers to, and its alternatives. */
const standingAt = (root: JsonObject, start: readonly unknown[]): readonly JsonObject[] => {
  const [open, found] = [[...start], new Set<JsonObject>()];
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const node = objectIn(open.pop());
    if (node === undefined && open.length === 0) break;
    if (node === undefined || found.has(node)) continue;
    found.add(node);
    if (typeof node['$ref'] === 'string') open.push(resolveLocal(root, node['$ref']));
    for (const word of ['anyOf', 'oneOf', 'allOf'])
      if (Array.isArray(node[word])) open.push(...(node[word] as readonly unknown[]));
  }
  return [...found];
};

/**
 * The field of a schema that a path is of: names that the schema does not have become `*`, for they may be what a
 * document says.
 */
export const fieldIn = (schema: JsonObject, path: string): string => {
  let at = standingAt(schema, [schema]);
  const names = path.split('/').slice(1);
  return names
    .map((name) => {
      const plain = name.replace(/~1/g, '/').replace(/~0/g, '~');
      const own = at.flatMap((node) => ownMember(objectIn(node['properties']), plain) ?? []);
      const isNamed = own.length > 0;
      const others = at.flatMap((node) => [node['items'], node['additionalProperties']]);
      at = standingAt(schema, isNamed ? own : others);
      return isNamed ? `/${name}` : '/*';
    })
    .join('');
};

/** What documents of a set are expected to say. */
export const expectedValues = (objects: Pick<ObjectStore, 'put' | 'get'>) => shelf(expectedShape, objects);

/** A leaf that was not read as it is expected: what was said in its place, and where that stands. */
const wrongValue = z.strictObject({
  /** With `*` for places in lists. */
  path: z.string(),
  /** JSON Pointer into the result; null: nothing is there. */
  at: z.string().nullable(),
  /** As JSON, of bounded length. */
  expected: z.string().nullable(),
  got: z.string().nullable(),
  confidence: z.number().nullable(),
  page: z.number().nullable(),
  /** Left, top, right, bottom on its page; left out by older releases. */
  bbox: z.array(z.number()).nullable().default(null),
  /** As it reads in the document, of bounded length; left out by older releases. */
  text: z.string().nullable().default(null),
});
export type WrongValue = z.output<typeof wrongValue>;

/** The errors in one document of a run. */
export const wrongValues = (objects: Pick<ObjectStore, 'put' | 'get'>) => shelf(z.array(wrongValue), objects);

const reportShape = z.strictObject({
  /** Of the values that said to be at least so sure, how many there are and how many are right. */
  calibration: z.array(z.strictObject({ at_least: z.number(), values: z.number(), right: z.number() })),
  /** By path, with `*` for places in lists and for names that the schema does not have. */
  fields: z.array(z.strictObject({ path: z.string(), ...leafCounts })),
  /** In the order of the set. */
  documents: z.array(
    z.strictObject({
      document_id: z.string(),
      /** null: it never was an operation. */
      operation_id: z.string().nullable(),
      ...leafCounts,
      /** Why it was not scored; null: it was. */
      left_out: z.string().nullable(),
      /** Digest of what was wrong; null: nothing. */
      wrong_sha256: z.string().nullable(),
    }),
  ),
});
export type EvaluationReport = z.output<typeof reportShape>;

/** What came of a run, by field and by document. */
export const reports = (objects: Pick<ObjectStore, 'put' | 'get'>) => {
  const { put, get } = shelf(reportShape, objects);
  return {
    put: (runId: string, report: EvaluationReport) => put(runId, REPORT, report),
    get: (runId: string, digest: string) => get(runId, REPORT, digest),
  };
};

/** Right ones among what was said, among what was expected, and both: 0 to 1; null where there was nothing. */
export interface Figures {
  readonly precision: number | null;
  readonly recall: number | null;
  readonly f1: number | null;
}

const share = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000;

/** Precision tp / (tp + fp), recall tp / (tp + fn), F1 2 tp / (2 tp + fp + fn), in ten-thousandths. */
export const figuresOf = ({ tp, fp, fn }: Readonly<Record<'tp' | 'fp' | 'fn', number>>): Figures => ({
  precision: share(tp, tp + fp),
  recall: share(tp, tp + fn),
  f1: share(2 * tp, 2 * tp + fp + fn),
});

const setRules = {
  decider: evaluationSet,
  codec: eventCodec(evaluationSetEvent),
  streamOf: setStream,
};
const runRules = {
  decider: evaluation,
  codec: eventCodec(evaluationEvent),
  streamOf: evaluationStream,
};

/** The streams of sets: which documents each version has. */
export const evaluationSets = (store: EventStore) => streamsOf<EvaluationSetKind>(setRules, store);
export type EvaluationSets = ReturnType<typeof evaluationSets>;

/** The streams of runs: what came of them. */
export const evaluations = (store: EventStore) => streamsOf<RecorderKind<EvaluationEvent>>(runRules, store);

export interface EvaluationDeps {
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly wrote: (tenantId: string, position: bigint) => void;
}

const SET_ID = /^set_[A-Za-z0-9-]{1,64}$/;
const RUN_ID = /^evr_[A-Za-z0-9-]{1,64}$/;

export const setNotFound = (): WorkProblem =>
  workProblem('set_not_found', 'There is no such set of examples of this tenant.');

/** A set of the tenant (`null`: of any), from the log; undefined for another's, and for one that was removed. */
export const findSet = async (
  { store }: Pick<EvaluationDeps, 'store'>,
  tenantId: string | null,
  setId: string,
): Promise<EvaluationSetVersion | undefined> => {
  if (!SET_ID.test(setId)) return undefined;
  const state = await evaluationSets(store).stateOf(setId);
  const [latest, { removed_at }] = [setVersion(state), state];
  const isTheirs = tenantId === null || latest?.tenant_id === tenantId;
  return removed_at === null && isTheirs ? latest : undefined;
};

/** Whose set it is, or was; undefined: there never was one. */
export const ownerOfSet = async (
  { store }: Pick<EvaluationDeps, 'store'>,
  setId: string,
): Promise<string | undefined> =>
  SET_ID.test(setId) ? (await evaluationSets(store).stateOf(setId)).versions[0]?.tenant_id : undefined;

/** A run by its ID: the batch that it is, and the version of a set that it measures. */
export type KnownRun = BatchState & {
  readonly accepted: NonNullable<BatchState['accepted']>;
  readonly evaluated: z.output<typeof evaluated>;
};

/** A run of the tenant (`null`: of any), from the log. */
export const findRun = async (
  batches: Pick<BatchCommands['streams'], 'stateOf'>,
  tenantId: string | null,
  runId: string,
): Promise<KnownRun | undefined> => {
  if (!RUN_ID.test(runId)) return undefined;
  const state = await batches.stateOf(batchIdOfRun(runId));
  const { accepted } = state;
  if (accepted?.evaluated === undefined || (tenantId !== null && accepted.tenant_id !== tenantId))
    return undefined;
  return { ...state, accepted, evaluated: accepted.evaluated };
};

/** Examples that are read or written at once. */
const AT_ONCE = 8;

/** The examples of a version that are still there, in its order. */
export const examplesOfSet = async (
  { objects }: Pick<EvaluationDeps, 'objects'>,
  { set_id, examples }: Pick<EvaluationSetVersion, 'set_id' | 'examples'>,
): Promise<readonly TrainingExample[]> => {
  const found = await eachOf(examples, AT_ONCE, async ({ document_id, expected_sha256 }) => {
    const expected = await expectedValues(objects).get(set_id, document_id, expected_sha256);
    return expected === undefined ? [] : [{ document_id, expected }];
  });
  return found.flat();
};

/** The examples of the latest version of a tenant's set. */
export const setExamplesOn =
  (deps: Pick<EvaluationDeps, 'store' | 'objects'>) =>
  async (tenantId: string, setId: string): Promise<readonly TrainingExample[] | WorkProblem> => {
    const set = await findSet(deps, tenantId, setId);
    return set === undefined ? setNotFound() : examplesOfSet(deps, set);
  };

type Found = ReturnType<typeof trainingExamples>;

/** A caller's request: a new set, or with `set_id` a new version of one. */
export interface SetRequest extends Omit<Parameters<Found>[0], 'least'> {
  readonly set_id: string | null;
  /** A new version keeps the members that are left out. */
  readonly set_name: string | undefined;
  readonly project_id: string | undefined;
  readonly task_id: string | undefined;
  readonly examples: Parameters<Found>[1] | { readonly from_decisions: DecisionsRequest };
  readonly identity: { readonly idempotency_key: string; readonly fingerprint: string } | null;
}

interface PublishSetDeps extends EvaluationDeps {
  readonly examples: Found;
  /** Decided documents of a tenant as examples. */
  readonly decided: (
    tenantId: string,
    asked: DecisionsRequest,
    meta: CommandMeta,
  ) => Promise<DecidedExamples>;
}

/** How long an Idempotency-Key names its set, ms. */
const KEPT_MS = 24 * 3_600_000;

const setIdOf = async ({ store, clock }: PublishSetDeps, request: SetRequest): Promise<string> => {
  const { set_id, tenant_id, identity } = request;
  if (set_id !== null) return set_id;
  if (identity === null) return clock.newId('set');
  const { idempotency_key } = identity;
  const { id } = await namedWork<EvaluationSetState>({
    idOf: (generation) => setIdFor({ tenant_id, idempotency_key, generation }),
    stateOf: evaluationSets(store).stateOf,
    read: (state) => ({
      since: setVersion(state, 1)?.created_at ?? null,
      isClosed: state.removed_at !== null,
    }),
    keptMs: KEPT_MS,
    now: clock.now(),
  });
  return id;
};

const repeatedIn = (examples: readonly TrainingExample[]): WorkProblem | undefined => {
  const seen = new Set<string>();
  for (const [at, { document_id }] of examples.entries()) {
    if (seen.has(document_id))
      return misfit(['body', 'examples', at], `${document_id} is there twice: name each document once.`);
    seen.add(document_id);
  }
  return undefined;
};

const failedSet = (outcome: Exclude<Outcome<EvaluationSetKind>, { readonly kind: 'done' }>): WorkProblem => {
  if (outcome.kind !== 'rejected')
    return workProblem('busy', 'The set could not be written. Send the request again in a moment.');
  return outcome.rejection.code === 'set_not_found' ? setNotFound() : reused();
};

export interface PublishedSet {
  readonly kind: 'set';
  readonly version: EvaluationSetVersion;
  /** True where nothing was written: it is as it was. */
  readonly unchanged: boolean;
  /** Documents that people have decided and that are no examples. */
  readonly left_out: number;
}

const noneDecided = ({ left_out }: DecidedExamples): WorkProblem =>
  misfit(
    ['body', 'from_decisions'],
    left_out === 0
      ? 'Nobody has decided such a document, or what was decided is kept no more.'
      : `The files of ${String(left_out)} decided documents are no longer kept.`,
  );

/** What a request names; of decisions, those that are examples. */
const namedIn = async (
  { decided }: PublishSetDeps,
  { tenant_id, examples: asked }: SetRequest,
  meta: CommandMeta,
): Promise<{ readonly named: Parameters<Found>[1]; readonly left_out: number } | WorkProblem> => {
  if (!('from_decisions' in asked)) return { named: asked, left_out: 0 };
  const { examples, left_out } = await decided(tenant_id, asked.from_decisions, meta);
  return examples.length === 0 ? noneDecided({ examples, left_out }) : { named: { examples }, left_out };
};

/** The examples of a request, each document once. */
const examplesIn = async (
  deps: PublishSetDeps,
  request: SetRequest,
  meta: CommandMeta,
): Promise<DecidedExamples | WorkProblem> => {
  const asked = await namedIn(deps, request, meta);
  if ('kind' in asked) return asked;
  const found = await deps.examples({ ...request, least: 1 }, asked.named);
  if ('kind' in found) return found;
  return repeatedIn(found) ?? { examples: found, left_out: asked.left_out };
};

/** What a version is called, and where its runs are booked: what a request leaves out stays as it was. */
const namesOf = (
  request: SetRequest,
  before: EvaluationSetVersion | undefined,
): Pick<EvaluationSetVersion, 'set_name' | 'project_id' | 'task_id'> => {
  const { set_name, project_id, task_id } = before ?? NO_NAMES;
  return {
    set_name: request.set_name ?? set_name,
    project_id: request.project_id ?? project_id,
    task_id: request.task_id ?? task_id,
  };
};
const NO_NAMES = { set_name: null, project_id: 'default', task_id: 'default' };

/** Far less than what is new to a sweep, ms. */
const STOOD_STILL_MS = 10 * 60_000;

/** Publishes a set or a new version of one. What documents are expected to say is stored before it is named. */
export const publishSet =
  (deps: PublishSetDeps) =>
  async (request: SetRequest, meta: CommandMeta): Promise<PublishedSet | WorkProblem> => {
    const { tenant_id, identity } = request;
    const before = request.set_id === null ? undefined : await findSet(deps, tenant_id, request.set_id);
    if (request.set_id !== null && before === undefined) return setNotFound();
    const found = await examplesIn(deps, request, meta);
    if ('kind' in found) return found;
    const set_id = await setIdOf(deps, request);
    const begun = deps.clock.now();
    const stored = () =>
      eachOf(found.examples, AT_ONCE, async ({ document_id, expected }) => ({
        document_id,
        expected_sha256: await expectedValues(deps.objects).put(set_id, document_id, expected),
      }));
    const examples = await stored();
    const fingerprint = identity?.fingerprint ?? '';
    const version = { set_id, tenant_id, ...namesOf(request, before), examples, fingerprint };
    const owner = { tenant_id, stream: setRules.streamOf(set_id) };
    const data = await withSealed(deps.store, owner, { ...version, update: before !== undefined });
    // As of its decision: putting examples and texts may have taken long, and others went on meanwhile.
    const decided = { ...meta, now: deps.clock.now() };
    const written = await writtenSet(deps, { type: 'PublishSet', data, meta: decided });
    // Nobody named them while this stood still, and what nobody names is swept.
    if (written.kind === 'set' && deps.clock.now() > laterBy(begun, STOOD_STILL_MS)) await stored();
    return written.kind === 'set' ? { ...written, left_out: found.left_out } : written;
  };

const writtenSet = async (
  { store, wrote }: PublishSetDeps,
  command: Extract<EvaluationSetKind['command'], { readonly type: 'PublishSet' }>,
): Promise<Omit<PublishedSet, 'left_out'> | WorkProblem> => {
  const { set_id, tenant_id } = command.data;
  const outcome = await evaluationSets(store).handle(set_id, command, tenant_id);
  if (outcome.kind !== 'done') return failedSet(outcome);
  if (outcome.position !== undefined) wrote(tenant_id, outcome.position);
  const version = setVersion(outcome.state);
  if (version === undefined) throw new Error('a set that was published has no version');
  return { kind: 'set', version, unchanged: outcome.events.length === 0 };
};

/** Removes a set and what its documents were expected to say. Its runs keep their figures. */
export const removeSet =
  (deps: EvaluationDeps) =>
  async (setId: string, tenantId: string, meta: CommandMeta): Promise<WorkProblem | undefined> => {
    const outcome = await evaluationSets(deps.store).handle(setId, { type: 'RemoveSet', meta }, tenantId);
    if (outcome.kind !== 'done') return failedSet(outcome);
    if (outcome.position !== undefined) deps.wrote(tenantId, outcome.position);
    await dropAll(deps.objects, evaluationFolderOf(setId));
    return undefined;
  };

/** The request for a run: a batch without documents of its own. */
export interface RunRequest extends Omit<
  BatchRequest,
  'document_ids' | 'evaluates' | 'project_id' | 'task_id'
> {
  readonly set_id: string;
}

/** Of a run, in the place of the key that its caller sent: no caller can send it. */
const runKeyOf = (idempotency_key: string): string => `evaluation run\u001f${idempotency_key}`;

interface AcceptedRun {
  readonly kind: 'accepted';
  readonly run_id: string;
  readonly replayed: boolean;
}

/** Accepts a run, once for its identity: a batch of the set's documents, each of which is billed as it always is. */
export const acceptRun =
  (deps: Pick<EvaluationDeps, 'store' | 'objects'> & { readonly accept: BatchCommands['accept'] }) =>
  async (
    { set_id, ...request }: RunRequest,
    begin: Parameters<BatchCommands['accept']>[1],
  ): Promise<AcceptedRun | WorkProblem> => {
    const set = await findSet(deps, request.tenant_id, set_id);
    if (set === undefined) return setNotFound();
    if (set.examples.length === 0)
      return misfit(['body', 'set_id'], 'Every document of this set was erased: publish another version.');
    const { project_id, task_id, version: set_version } = set;
    const { idempotency } = request;
    const accepted = await deps.accept(
      {
        ...request,
        project_id,
        task_id,
        evaluates: {
          set_id,
          set_version,
          keepSchema: (batchId, schema) => runSchemas(deps.objects).put(runIdOfBatch(batchId), schema),
        },
        document_ids: set.examples.map(({ document_id }) => document_id),
        idempotency: idempotency && {
          ...idempotency,
          idempotency_key: runKeyOf(idempotency.idempotency_key),
        },
      },
      begin,
    );
    if (accepted.kind === 'problem') return accepted;
    return { kind: 'accepted', run_id: runIdOfBatch(accepted.batch_id), replayed: accepted.replayed };
  };
