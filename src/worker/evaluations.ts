import type { DocumentTools, ScoredLeaf, Counts } from '@quire/engine/ports/documentTools';
import { added, NONE } from '@quire/engine/learning/scoring/scoring';
import { eachOf } from '@quire/engine/models/byModel/modelWorkDeps';
import { z } from 'zod';
import { operationIdOfDocument } from '../../domain/batch.ts';
import { setVersion } from '../../domain/evaluation.ts';
import type { EvaluationEvent } from '../../domain/evaluation.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { OperationState } from '../../domain/operation.ts';
import type { Batches } from '../commands/batches.ts';
import {
  evaluations,
  evaluationSets,
  expectedValues,
  findRun,
  type EvaluationDeps,
  type EvaluationReport,
  fieldIn,
  type KnownRun,
  reports,
  runSchemas,
  type WrongValue,
  wrongValues,
} from '../commands/evaluations.ts';
import type { operations } from '../commands/operations.ts';
import { resultShelf } from '../commands/storedResult.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import { each, repeatedly } from './queue.ts';

/** A run, and whose it is. */
interface RunName {
  readonly run_id: string;
  readonly tenant_id: string;
}

export interface EvaluationWorkerDeps extends EvaluationDeps {
  readonly batches: Pick<Batches, 'stateOf'>;
  readonly operations: Pick<ReturnType<typeof operations>, 'stateOf'>;
  /** Holds a result against what is expected, beside the API. */
  readonly score: DocumentTools['score'];
  readonly scoreDeadlineMs: number;
  /** Runs whose batch has ended and that are not scored, as the read models know, one of each tenant first. */
  readonly toScore: (limit: number, except: readonly string[]) => Promise<readonly RunName[]>;
  readonly onError: (error: unknown) => void;
  /** How often runs are looked for, ms. */
  readonly pollMs?: number;
}

export interface EvaluationWorker {
  /** Scores the runs that have ended. Gives how many it scored. */
  readonly look: () => Promise<number>;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

/** A result's values, and for each its place and confidence. */
const scoredBody = z.object({
  result: z.record(z.string(), z.unknown()),
  meta: z.object({
    citations: z.array(
      z.object({
        path: z.string(),
        page: z.number().nullable(),
        confidence: z.number().nullable(),
        bbox: z.array(z.number()).nullish(),
        text: z.string().nullish(),
      }),
    ),
  }),
});
type ScoredBody = z.output<typeof scoredBody>;
type Citation = ScoredBody['meta']['citations'][number];

/** Failures of the document or of what was read in it: nothing was found, and that counts. */
const NOTHING_READ: ReadonlySet<string> = new Set([
  'output_schema_mismatch',
  'extraction_failed',
  'unreadable_file',
  'unsupported_file_type',
  'empty_file',
  'wrong_password',
  'too_many_pages',
]);

const NO_RESULT: ScoredBody = { result: {}, meta: { citations: [] } };

/** The reading of a document, or why it is left out. */
type Read = { readonly body: ScoredBody } | { readonly left_out: string };

const readOf = async (
  { objects }: EvaluationWorkerDeps,
  { accepted, status, success, failure }: OperationState,
): Promise<Read> => {
  if (accepted === null || status === 'cancelled') return { left_out: 'cancelled' };
  if (success === null) {
    const code = failure?.code ?? 'internal_error';
    return NOTHING_READ.has(code) ? { body: NO_RESULT } : { left_out: code };
  }
  const digest = success.result_sha256 ?? '';
  const stored = await resultShelf(objects).find(accepted.work_id, digest);
  return stored === undefined ? { left_out: 'result_gone' } : { body: scoredBody.parse(stored.body) };
};

/** How sure values said to be that were right or wrong. */
const CONFIDENCES = [0.9, 0.8] as const;

/** The result of one document. */
interface Scored {
  readonly row: EvaluationReport['documents'][number];
  readonly leaves: readonly ScoredLeaf[];
  readonly sureness: readonly (readonly [confidence: number, right: boolean])[];
}

const leftOut = (document_id: string, operation_id: string | null, left_out: string): Scored => ({
  row: { document_id, operation_id, tp: 0, fp: 0, fn: 0, left_out, wrong_sha256: null },
  leaves: [],
  sureness: [],
});

/** Wrong values that are kept of a document; all of them are counted. */
const WRONG_MAX = 1_000;

/** Letters that are kept of how a wrong value reads in its document. */
const TEXT_MAX = 300;

const wrongIn = (
  leaves: readonly ScoredLeaf[],
  citations: ReadonlyMap<string, Citation>,
): readonly WrongValue[] =>
  leaves
    .flatMap(({ path, at, wrong }) => {
      const citation = at === null ? undefined : citations.get(at);
      const { confidence = null, page = null, bbox, text } = citation ?? {};
      const place = { page, bbox: bbox ?? null, text: text?.slice(0, TEXT_MAX) ?? null };
      return wrong === undefined ? [] : [{ path, at, ...wrong, confidence, ...place }];
    })
    .slice(0, WRONG_MAX);

/** Of each value that says how sure it is: whether it was right. */
const surenessIn = (leaves: readonly ScoredLeaf[], citations: ReadonlyMap<string, Citation>) =>
  leaves.flatMap(({ at, counts: { tp, fp } }) => {
    const confidence = at === null ? null : (citations.get(at)?.confidence ?? null);
    return confidence === null || tp + fp === 0 ? [] : [[confidence, tp > 0] as const];
  });

/** A run while it is scored. */
interface Scoring {
  readonly name: RunName;
  readonly run: KnownRun;
  /** Digest of what each document is expected to say. */
  readonly expected: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
}

/** Holds what was read against what is expected; undefined: that could not be done in time. */
const held = async (
  { score, scoreDeadlineMs: deadlineMs }: EvaluationWorkerDeps,
  { name, signal }: Pick<Scoring, 'name' | 'signal'>,
  { expected, body }: { readonly expected: JsonObject; readonly body: ScoredBody },
): Promise<{ readonly counts: Counts; readonly leaves: readonly ScoredLeaf[] } | undefined> => {
  const work = { expected, answer: JSON.stringify(body.result), labelledOnly: true };
  const outcome = await score(work, { deadlineMs, signal, share: name.tenant_id });
  signal.throwIfAborted();
  return outcome.kind === 'scored' ? outcome.scored : undefined;
};

/** The result of the document at a place of the run's list, by its batch and its operation. */
const readAt = async (
  deps: EvaluationWorkerDeps,
  { accepted, refused }: KnownRun,
  index: number,
): Promise<Read & { readonly operation_id: string | null }> => {
  const refusal = refused.get(index);
  if (refusal !== undefined)
    return {
      operation_id: null,
      ...(NOTHING_READ.has(refusal) ? { body: NO_RESULT } : { left_out: refusal }),
    };
  const operation_id = operationIdOfDocument({ ...accepted, index });
  return { operation_id, ...(await readOf(deps, await deps.operations.stateOf(operation_id))) };
};

const scoredDocument = async (
  deps: EvaluationWorkerDeps,
  scoring: Scoring,
  index: number,
): Promise<Scored> => {
  const { name, run } = scoring;
  const document_id = run.accepted.document_ids[index] ?? '';
  const { operation_id, ...read } = await readAt(deps, run, index);
  if ('left_out' in read) return leftOut(document_id, operation_id, read.left_out);
  const digest = scoring.expected.get(document_id) ?? '';
  const expected = await expectedValues(deps.objects).get(run.evaluated.set_id, document_id, digest);
  if (expected === undefined) return leftOut(document_id, operation_id, 'expected_gone');
  const found = await held(deps, scoring, { expected, body: read.body });
  if (found === undefined) return leftOut(document_id, operation_id, 'not_scored');
  const { counts, leaves } = found;
  const citations = new Map(read.body.meta.citations.map((one) => [one.path, one]));
  const wrong = [...wrongIn(leaves, citations)];
  const wrong_sha256 =
    wrong.length === 0 ? null : await wrongValues(deps.objects).put(name.run_id, document_id, wrong);
  const row = { document_id, operation_id, ...counts, left_out: null, wrong_sha256 };
  return { row, leaves, sureness: surenessIn(leaves, citations) };
};

/** The result of a run so far, while its documents are scored one after the other. */
const sums = (schema: JsonObject) => {
  const fields = new Map<string, Counts>();
  const documents: EvaluationReport['documents'] = [];
  const sure = CONFIDENCES.map((at_least) => ({ at_least, values: 0, right: 0 }));
  let all = NONE;
  return {
    add: ({ row, leaves, sureness }: Scored): void => {
      documents.push(row);
      all = added(all, row);
      for (const { path, counts } of leaves) {
        if (counts.tp + counts.fp + counts.fn === 0) continue;
        const field = fieldIn(schema, path);
        fields.set(field, added(fields.get(field) ?? NONE, counts));
      }
      for (const [confidence, right] of sureness)
        for (const bin of sure) {
          if (confidence < bin.at_least) continue;
          bin.values += 1;
          if (right) bin.right += 1;
        }
    },
    report: (): EvaluationReport => ({
      fields: [...fields].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, counts]) => ({ path, ...counts })),
      documents,
      calibration: sure,
    }),
    facts: () => ({
      ...all,
      scored: documents.filter(({ left_out }) => left_out === null).length,
      left_out: documents.filter(({ left_out }) => left_out !== null).length,
    }),
  };
};

/** The event of a run that is scored; undefined: it is no run, or has not ended. */
const scoreOf = async (
  deps: EvaluationWorkerDeps,
  name: RunName,
  signal: AbortSignal,
): Promise<EvaluationEvent | undefined> => {
  const run = await findRun(deps.batches, name.tenant_id, name.run_id);
  if (run?.ended == null || run.cancelled_at !== null) return undefined;
  const { set_id, set_version, schema_sha256 } = run.evaluated;
  const set = setVersion(await evaluationSets(deps.store).stateOf(set_id), set_version);
  const examples = set?.examples ?? [];
  const expected = new Map(examples.map((one) => [one.document_id, one.expected_sha256]));
  const schema = (await runSchemas(deps.objects).get(name.run_id, schema_sha256)) ?? {};
  const found = sums(schema);
  for (const index of run.accepted.document_ids.keys())
    found.add(await scoredDocument(deps, { name, run, expected, signal }, index));
  const report_sha256 = await reports(deps.objects).put(name.run_id, found.report());
  const { batch_id } = run.accepted;
  const data = { ...name, batch_id, set_id, set_version, ...found.facts(), report_sha256 };
  return { type: 'EvaluationScored', data: { ...data, scored_at: deps.clock.now() } };
};

const scoreRun = async (
  deps: EvaluationWorkerDeps,
  { run_id, tenant_id }: RunName,
  signal: AbortSignal,
): Promise<boolean> => {
  const event = await scoreOf(deps, { run_id, tenant_id }, signal);
  if (event === undefined) return false;
  const command = { type: 'Record', data: event, meta: systemMeta(deps, run_id) } as const;
  const outcome = await evaluations(deps.store).handle(run_id, command, tenant_id);
  if (outcome.kind !== 'done') return false;
  if (outcome.position !== undefined) deps.wrote(tenant_id, outcome.position);
  return outcome.events.length > 0;
};

const PAGE = 20;
/** Tenants whose runs are scored at once: a long run of one delays none of the others. */
const TENANTS_AT_ONCE = 4;

/** Runs by tenant, in their order. */
const byTenant = (runs: readonly RunName[]): readonly (readonly RunName[])[] => {
  const groups = new Map<string, RunName[]>();
  for (const run of runs) groups.set(run.tenant_id, [...(groups.get(run.tenant_id) ?? []), run]);
  return [...groups.values()];
};

/** What could not be scored now is tried again so much later, ms. */
const AGAIN_MS = 30_000;

/**
 * Scores runs whose batch has ended. Reports are stored under their digest and the event is written once, so any
 * number of workers may score the same run, and if one dies, another does it again.
 */
export const evaluationWorker = (deps: EvaluationWorkerDeps): EvaluationWorker => {
  const shutdown = new AbortController();
  const tried = new Map<string, number>();
  const look = async (): Promise<number> => {
    const now = Date.parse(deps.clock.now());
    for (const [run, at] of tried) if (now - at >= AGAIN_MS) tried.delete(run);
    // Those that cannot be scored now take no places of the page from others.
    const ended = await deps.toScore(PAGE, [...tried.keys()]);
    const score = (run: RunName): Promise<boolean> => {
      tried.set(run.run_id, now);
      return shutdown.signal.aborted ? Promise.resolve(false) : scoreRun(deps, run, shutdown.signal);
    };
    const scored = await eachOf(byTenant(ended), TENANTS_AT_ONCE, (runs) => each(deps, runs, score));
    return scored.reduce((sum, one) => sum + one, 0);
  };
  const loop = repeatedly(look, deps.pollMs ?? 1_000, (error) => {
    if (!shutdown.signal.aborted) deps.onError(error);
  });
  return {
    look,
    start: loop.start,
    stop: async () => {
      shutdown.abort();
      await loop.stop();
    },
  };
};
