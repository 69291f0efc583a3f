import { z } from 'zod';
import { BATCH_DOCUMENTS_MAX } from './batch.ts';
import {
  accept,
  type BareCommand,
  type Command,
  type Decider,
  type Decision,
  event,
  recorder,
  reject,
  type StreamKind,
} from './kernel/decider.ts';
import { instant, tenantId } from './kernel/amounts.ts';
import { digestText, suffixOf } from './leased.ts';

const count = z.number().int().min(0);

/** An example of a set: its expected values are in object storage under their digest. */
const setExample = z.strictObject({ document_id: z.string(), expected_sha256: z.string() });

/** A version of a set of examples, whole. A run measures one version; what a caller changes makes the next. */
const setPublished = event('EvaluationSetPublished', {
  set_id: z.string(),
  tenant_id: tenantId,
  project_id: z.string(),
  task_id: z.string(),
  /** Chosen by the caller; stays permanently. */
  set_name: z.string().nullable(),
  /** From 1. */
  version: z.number().int().min(1),
  /** Each document once. Empty where all of them were erased. */
  examples: z.array(setExample).max(BATCH_DOCUMENTS_MAX),
  /** Digest of the request; empty where documents were taken out because they are gone. */
  fingerprint: z.string(),
  /** Of the first version. */
  created_at: instant,
  published_at: instant,
});

/** The next version is as the one before, without these documents: they are erased or removed. */
const setReduced = event('EvaluationSetReduced', {
  set_id: z.string(),
  tenant_id: tenantId,
  version: z.number().int().min(1),
  /** Those that were taken out, not those that are left: many may be erased one after the other. */
  document_ids: z.array(z.string()).min(1).max(BATCH_DOCUMENTS_MAX),
  published_at: instant,
});

/** It can no longer be measured, and the expected values of its documents are removed. */
const setRemoved = event('EvaluationSetRemoved', {
  set_id: z.string(),
  tenant_id: tenantId,
  removed_at: instant,
});

export const evaluationSetEvent = z.discriminatedUnion('type', [setPublished, setReduced, setRemoved]);
type EvaluationSetEvent = z.output<typeof evaluationSetEvent>;
export type EvaluationSetVersion = z.output<typeof setPublished>['data'];

/** `update`: a new version of a set that is there; otherwise a new set, once for its fingerprint. */
type PublishSet = Command<
  'PublishSet',
  Omit<EvaluationSetVersion, 'version' | 'created_at' | 'published_at'> & { readonly update: boolean }
>;
/** Takes documents out of a set because they are erased or removed. */
type TakeOut = Command<'TakeOut', { readonly document_ids: readonly string[] }>;
type RemoveSet = BareCommand<'RemoveSet'>;

type SetRejection = { readonly code: 'set_not_found' } | { readonly code: 'idempotency_key_reused' };

type Reduced = z.output<typeof setReduced>['data'];

export interface EvaluationSetState {
  /** What the events say of each version, from version 1 on; `setVersion` gives a version whole. */
  readonly versions: readonly (EvaluationSetVersion | Reduced)[];
  readonly removed_at: string | null;
}

/** A version of a set with the examples that it has; left out: the latest. undefined: there is none. */
export const setVersion = (
  { versions }: Pick<EvaluationSetState, 'versions'>,
  version = versions.length,
): EvaluationSetVersion | undefined => {
  const asked = versions[version - 1];
  const gone = new Set<string>();
  for (let at = version - 1; at >= 0; at -= 1) {
    const said = versions[at];
    if (said === undefined || asked === undefined) return undefined;
    if ('examples' in said) {
      if (said === asked) return said;
      const examples = said.examples.filter(({ document_id }) => !gone.has(document_id));
      return { ...said, version, examples, fingerprint: '', published_at: asked.published_at };
    }
    for (const id of said.document_ids) gone.add(id);
  }
  return undefined;
};

export type EvaluationSetKind = StreamKind<
  EvaluationSetState,
  PublishSet | TakeOut | RemoveSet,
  EvaluationSetEvent,
  SetRejection
>;

type SetDecision = Decision<EvaluationSetEvent, SetRejection>;

const sameExamples = (a: EvaluationSetVersion['examples'], b: EvaluationSetVersion['examples']): boolean =>
  a.length === b.length &&
  a.every(
    ({ document_id, expected_sha256 }, at) =>
      document_id === b[at]?.document_id && expected_sha256 === b[at].expected_sha256,
  );

const isSame = (latest: EvaluationSetVersion, { data }: PublishSet): boolean =>
  latest.set_name === data.set_name &&
  latest.project_id === data.project_id &&
  latest.task_id === data.task_id &&
  sameExamples(latest.examples, data.examples);

const nextVersion = (
  latest: EvaluationSetVersion,
  changed: Omit<EvaluationSetVersion, 'version' | 'created_at'>,
): SetDecision =>
  accept({
    type: 'EvaluationSetPublished',
    data: { ...changed, version: latest.version + 1, created_at: latest.created_at },
  });

const publish = (state: EvaluationSetState, command: PublishSet): SetDecision => {
  const { removed_at } = state;
  const { update, ...data } = command.data;
  const [first, latest] = [setVersion(state, 1), setVersion(state)];
  const published_at = command.meta.now;
  if (!update) {
    if (first !== undefined)
      return first.fingerprint === data.fingerprint && removed_at === null
        ? accept()
        : reject({ code: 'idempotency_key_reused' });
    const created = { ...data, version: 1, created_at: published_at, published_at };
    return accept({ type: 'EvaluationSetPublished', data: created });
  }
  if (latest === undefined || removed_at !== null || latest.tenant_id !== data.tenant_id)
    return reject({ code: 'set_not_found' });
  return isSame(latest, command) ? accept() : nextVersion(latest, { ...data, published_at });
};

const takeOut = (state: EvaluationSetState, { data, meta }: TakeOut): SetDecision => {
  const latest = setVersion(state);
  if (latest === undefined || state.removed_at !== null) return accept();
  const gone = new Set(data.document_ids);
  const document_ids = latest.examples.flatMap(({ document_id }) =>
    gone.has(document_id) ? [document_id] : [],
  );
  if (document_ids.length === 0) return accept();
  const { set_id, tenant_id, version } = latest;
  const reduced = { set_id, tenant_id, version: version + 1, document_ids, published_at: meta.now };
  return accept({ type: 'EvaluationSetReduced', data: reduced });
};

const remove = (state: EvaluationSetState, { meta }: RemoveSet): SetDecision => {
  const latest = setVersion(state);
  if (latest === undefined) return reject({ code: 'set_not_found' });
  if (state.removed_at !== null) return accept();
  const { set_id, tenant_id } = latest;
  return accept({ type: 'EvaluationSetRemoved', data: { set_id, tenant_id, removed_at: meta.now } });
};

/** Sets of examples that versions of a config or an artifact are measured by. */
export const evaluationSet: Decider<EvaluationSetKind> = {
  initialState: { versions: [], removed_at: null },
  decide: (state, command) => {
    switch (command.type) {
      case 'PublishSet':
        return publish(state, command);
      case 'TakeOut':
        return takeOut(state, command);
      case 'RemoveSet':
        return remove(state, command);
    }
  },
  evolve: (state, { type, data }) =>
    type === 'EvaluationSetRemoved'
      ? { ...state, removed_at: data.removed_at }
      : { ...state, versions: [...state.versions, data] },
};

export const setStream = (setId: string): string => `set-${setId}`;

interface SetIdentity {
  readonly tenant_id: string;
  readonly idempotency_key: string;
  /** Counts reuses after the time of replays. */
  readonly generation: number;
}

/** The same request always names the same set. */
export const setIdFor = ({ tenant_id, idempotency_key, generation }: SetIdentity): string =>
  `set_${digestText(['evaluation set', tenant_id, idempotency_key, String(generation)].join('\u001f'))}`;

/** Leaves that were right, leaves that were wrong or too many, and leaves that are missing or were wrong. */
export const leafCounts = { tp: count, fp: count, fn: count };

/**
 * A run was compared with its set, after its batch ended. The report, in object storage under its digest, has the
 * figures by field and by document; names of fields and values are never in the log.
 */
const evaluationScored = event('EvaluationScored', {
  run_id: z.string(),
  tenant_id: tenantId,
  batch_id: z.string(),
  set_id: z.string(),
  set_version: z.number().int().min(1),
  ...leafCounts,
  /** Documents that were scored, and those that were not: cancelled, not paid for, or gone. */
  scored: count,
  left_out: count,
  report_sha256: z.string(),
  scored_at: instant,
});

export const evaluationEvent = z.discriminatedUnion('type', [evaluationScored]);
export type EvaluationEvent = z.output<typeof evaluationEvent>;

/** A run is scored once; a second scoring does nothing. */
export const evaluation = recorder<EvaluationEvent>(() => true);

export const evaluationStream = (runId: string): string => `evaluation-${runId}`;

/** A run is a batch: both IDs share what follows the prefix. */
export const runIdOfBatch = (batchId: string): string => `evr_${suffixOf(batchId)}`;
export const batchIdOfRun = (runId: string): string => `bat_${suffixOf(runId)}`;
