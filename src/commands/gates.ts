import type { ConfigVersion } from '../../domain/savedConfig.ts';
import type { EvaluationRunRow } from '../../projections/evaluations.ts';
import { type Subject, subjectSha256 } from './batches.ts';
import type { Artifacts } from './deployments.ts';
import { type EvaluationDeps, figuresOf, findSet, reports, setNotFound } from './evaluations.ts';
import { trainedBy } from './extract.ts';
import { type WorkProblem, workProblem } from './workProblem.ts';

/** The measurement required before something is published. */
export interface Gate {
  readonly set_id: string;
  /** F1 over all fields, 0 to 1. */
  readonly min_f1?: number | undefined;
  /** A run of the same version of the set, whose F1 has to be reached. */
  readonly not_worse_than?: string | undefined;
}

export interface GateDeps extends Pick<EvaluationDeps, 'store' | 'objects'> {
  readonly artifacts: Artifacts;
  readonly lastRunOfSubject: (
    of: Pick<EvaluationRunRow, 'set_id' | 'set_version' | 'subject_sha256'>,
  ) => Promise<EvaluationRunRow | undefined>;
  readonly runById: (runId: string) => Promise<EvaluationRunRow | undefined>;
}

/** The publication, as far as it decides the reading; members left to its artifact are null. */
type Published = Pick<Subject, 'artifact_id' | 'llm' | 'ocr'> &
  Pick<ConfigVersion, 'schema' | 'mode' | 'min_confidence' | 'models_for' | 'require_grounding'>;

/** An artifact that is deployed: requests by it alone. */
export const deployedSubject = (artifact_id: string): Published => ({
  artifact_id,
  schema: null,
  mode: null,
  llm: {},
  ocr: {},
});

/** As a request by it would be done: field by field, then its artifact, then the defaults. */
const subjectOf = async (
  deps: GateDeps,
  tenantId: string,
  published: Published,
): Promise<Subject | WorkProblem> => {
  const { artifact_id, min_confidence, models_for, require_grounding, llm, ocr } = published;
  const trained = artifact_id === null ? undefined : await trainedBy(deps, tenantId, artifact_id);
  if (trained?.kind === 'problem') return trained;
  const schema = published.schema ?? trained?.file.schema;
  if (schema === undefined)
    return workProblem('missing_schema', 'A gate measures a schema: publish the config with one.');
  return {
    schema,
    artifact_id,
    llm,
    ocr,
    min_confidence,
    models_for,
    require_grounding,
    mode: published.mode ?? trained?.file.mode ?? 'standard',
  };
};

/** A field that is worse than it has to be. */
interface FallenField {
  readonly path: string;
  readonly f1: number | null;
  /** The required result. */
  readonly before: number;
}

type Counted = Pick<EvaluationRunRow, 'tp' | 'fp' | 'fn'>;

const f1Of = ({ tp, fp, fn }: Counted): number =>
  figuresOf({ tp: tp ?? 0, fp: fp ?? 0, fn: fn ?? 0 }).f1 ?? 0;

/** F1 of each field of a run. */
const fieldsOf = async (
  { objects }: GateDeps,
  { run_id, report_sha256 }: EvaluationRunRow,
): Promise<ReadonlyMap<string, number | null>> => {
  const report = await reports(objects).get(run_id, report_sha256 ?? '');
  return new Map((report?.fields ?? []).map(({ path, ...counts }) => [path, figuresOf(counts).f1]));
};

/** Fields listed in an answer. */
const FIELDS_MAX = 100;

const fallenFields = (
  now: ReadonlyMap<string, number | null>,
  due: (path: string) => number | null | undefined,
  paths: Iterable<string>,
): readonly FallenField[] =>
  [...paths]
    .flatMap((path) => {
      const [f1, before] = [now.get(path) ?? null, due(path)];
      return before == null || (f1 ?? 0) >= before ? [] : [{ path, f1, before }];
    })
    .slice(0, FIELDS_MAX);

const notPassed = (detail: string, members: Readonly<Record<string, unknown>> = {}): WorkProblem =>
  workProblem('gate_not_passed', detail, {
    run_id: null,
    f1: null,
    required_f1: null,
    fields: [],
    ...members,
  });

const belowLeast = async (
  deps: GateDeps,
  run: EvaluationRunRow,
  least: number,
): Promise<WorkProblem | undefined> => {
  const f1 = f1Of(run);
  if (f1 >= least) return undefined;
  const now = await fieldsOf(deps, run);
  return notPassed(`F1 is ${String(f1)} and has to be at least ${String(least)}.`, {
    run_id: run.run_id,
    f1,
    required_f1: least,
    fields: fallenFields(now, () => least, now.keys()),
  });
};

const worseThan = async (
  deps: GateDeps,
  run: EvaluationRunRow,
  beforeId: string,
): Promise<WorkProblem | undefined> => {
  const before = await deps.runById(beforeId);
  if (before?.tenant_id !== run.tenant_id || before.set_id !== run.set_id || before.scored_at === null)
    return workProblem('run_not_found', 'not_worse_than names no scored run of this set.');
  if (before.set_version !== run.set_version)
    return notPassed(
      `${beforeId} measured version ${String(before.set_version)} of the set, which is now at version ` +
        `${String(run.set_version)}: run it again.`,
      { run_id: run.run_id, f1: f1Of(run) },
    );
  const [f1, required_f1] = [f1Of(run), f1Of(before)];
  if (f1 >= required_f1) return undefined;
  const [now, then] = [await fieldsOf(deps, run), await fieldsOf(deps, before)];
  return notPassed(`F1 is ${String(f1)}; it was ${String(required_f1)} in ${beforeId}.`, {
    run_id: run.run_id,
    f1,
    required_f1,
    fields: fallenFields(now, (path) => then.get(path), then.keys()),
  });
};

/**
 * Why something may not be published; undefined: it may. The last run that measured the same with the latest version of
 * the set has to reach what the gate says; one that left documents out does not count.
 */
export const heldBack =
  (deps: GateDeps) =>
  async (tenantId: string, published: Published, gate: Gate): Promise<WorkProblem | undefined> => {
    const { set_id, min_f1, not_worse_than } = gate;
    const set = await findSet(deps, tenantId, set_id);
    if (set === undefined) return setNotFound();
    const subject = await subjectOf(deps, tenantId, published);
    if ('kind' in subject) return subject;
    const { version: set_version } = set;
    const run = await deps.lastRunOfSubject({ set_id, set_version, subject_sha256: subjectSha256(subject) });
    if (run === undefined)
      return notPassed(
        `Version ${String(set_version)} of the set was not run with what is to be published: run it first.`,
      );
    if (run.left_out !== 0)
      return notPassed(`${run.run_id} left ${String(run.left_out)} documents out: run it again.`, {
        run_id: run.run_id,
        f1: f1Of(run),
      });
    return (
      (min_f1 === undefined ? undefined : await belowLeast(deps, run, min_f1)) ??
      (not_worse_than === undefined ? undefined : worseThan(deps, run, not_worse_than))
    );
  };
