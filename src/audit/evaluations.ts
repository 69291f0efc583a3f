import { runIdOfBatch } from '../../domain/evaluation.ts';
import { evaluationDocuments, evaluationRuns, evaluationSets } from '../../projections/evaluations.ts';
import { type AuditedEventOf, byType, type ExpectedModel, keptRows, noneOf } from './auditedEvent.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import { wrong } from './findings.ts';
import type { Books } from './rules.ts';
import { compactSet } from './streams.ts';

/** Sets of examples, their documents, and runs as they stand. */
export const evaluationRows: ExpectedModel = {
  name: 'evaluations',
  tables: [evaluationSets, evaluationDocuments, evaluationRuns],
  start: (emit) => {
    const sets = keptRows(evaluationSets, emit);
    const runs = keptRows(evaluationRuns, emit);
    const documents = new Map<string, { readonly tenant_id: string; readonly ids: Set<string> }>();
    const name = (id: string, tenant_id: string, ids: readonly string[]): void => {
      const known = documents.get(id) ?? { tenant_id, ids: new Set() };
      for (const one of ids) known.ids.add(one);
      documents.set(id, known);
    };
    const apply = byType({
      EvaluationSetPublished: ({ data, position }) => {
        const { set_id, tenant_id, examples } = data;
        sets.set(set_id, { ...data, position, documents: examples.length });
        name(
          set_id,
          tenant_id,
          examples.map(({ document_id }) => document_id),
        );
      },
      EvaluationSetReduced: ({ data: { set_id, version, published_at, document_ids }, position }) => {
        const documents = Number(sets.get(set_id)?.documents ?? 0) - document_ids.length;
        sets.change(set_id, { version, published_at, position, documents });
      },
      EvaluationSetRemoved: ({ data: { set_id } }) => {
        sets.take(set_id);
        documents.delete(set_id);
      },
      BatchAccepted: ({ data, position }) => {
        const { batch_id, tenant_id, document_ids, evaluated } = data;
        if (evaluated === undefined) return;
        const run_id = runIdOfBatch(batch_id);
        name(run_id, tenant_id, document_ids);
        const run = { ...noneOf(evaluationRuns.columns), ...data, ...evaluated };
        runs.set(run_id, { ...run, run_id, position, documents: document_ids.length });
      },
      EvaluationScored: ({ data: { run_id, tp, fp, fn, scored, left_out, report_sha256, scored_at } }) =>
        runs.change(run_id, { tp, fp, fn, scored, left_out, report_sha256, scored_at }),
    });
    const finish = () => {
      sets.emitAll();
      runs.emitAll();
      for (const [id, { tenant_id, ids }] of documents)
        for (const document_id of ids) emit(evaluationDocuments, { document_id, id, tenant_id });
    };
    return { apply, finish };
  },
};

/** A set as far as the log was read, until it is removed. */
interface SeenSet {
  readonly tenant_id: string;
  versions: number;
  /** Documents of the latest version. */
  documents: readonly string[];
}

/** A run until it is scored. */
interface SeenRun {
  readonly documents: number;
  readonly ended: boolean;
  readonly set_id: string;
  readonly set_version: number;
}

type SetEvent = AuditedEventOf<'EvaluationSetPublished' | 'EvaluationSetReduced' | 'EvaluationSetRemoved'>;

type Version = Readonly<Record<'set_id' | 'tenant_id', string>> & { readonly version: number };

/** A version of a tenant's set with its documents in their order, as one name: sets may have many versions. */
const versionName = ({ set_id, tenant_id, version }: Version, ids: readonly string[]): string =>
  `${set_id} ${tenant_id} ${String(version)} ${sha256(ids.join(' '))}`;

/** The documents of a set after one of its events. */
const documentsAfter = (event: SetEvent, before: readonly string[]): readonly string[] => {
  if (event.type === 'EvaluationSetPublished')
    return event.data.examples.map(({ document_id }) => document_id);
  if (event.type === 'EvaluationSetRemoved') return [];
  const gone = new Set(event.data.document_ids);
  return before.filter((id) => !gone.has(id));
};

const checkReduced = (
  event: AuditedEventOf<'EvaluationSetReduced'>,
  before: readonly string[],
  say: ReturnType<typeof wrong>,
): void => {
  const [due, left] = [before.length - event.data.document_ids.length, documentsAfter(event, before).length];
  if (left !== due) say('It takes documents out that the set does not have.', due, left);
};

/** Says why an event cannot follow the earlier ones of its set, if it cannot. */
const checkSet = (event: SetEvent, seen: SeenSet, say: ReturnType<typeof wrong>): void => {
  const due = seen.versions + 1;
  if (seen.tenant_id !== event.data.tenant_id)
    say('It gives the set to another tenant.', seen.tenant_id, event.data.tenant_id);
  else if (event.type === 'EvaluationSetRemoved') {
    if (due === 1) say('It removes a set that was never published.');
  } else if (event.data.version !== due)
    say(`Version ${event.data.version} was published where ${due} belongs.`, due, event.data.version);
  else if (event.type === 'EvaluationSetReduced') checkReduced(event, seen.documents, say);
};

type Measured = NonNullable<AuditedEventOf<'BatchAccepted'>['data']['evaluated']>;

/** Says why a run cannot have been scored so, if it cannot. */
const checkScore = (
  { data }: AuditedEventOf<'EvaluationScored'>,
  { run, isScored }: { readonly run: SeenRun | undefined; readonly isScored: boolean },
  say: ReturnType<typeof wrong>,
): void => {
  const { run_id, batch_id, scored, left_out, set_id, set_version } = data;
  if (isScored) say(`${run_id} was scored twice.`);
  else if (run === undefined || runIdOfBatch(batch_id) !== run_id) say(`${run_id} was never accepted.`);
  else if (!run.ended) say(`${run_id} was scored before it had ended.`);
  else if (run.documents !== scored + left_out)
    say(`${run_id} says of other documents than it has.`, run.documents, scored + left_out);
  else if (run.set_id !== set_id || run.set_version !== set_version)
    say(
      `${run_id} was scored for another set than it measures.`,
      `version ${run.set_version} of ${run.set_id}`,
      `version ${set_version} of ${set_id}`,
    );
};

type Looking = Pick<Books, 'findings' | 'touch'>;

/** Versions of sets follow one another, and end with the removal. */
const setsCheck = ({ findings, touch }: Looking) => {
  const sets = new Map<string, SeenSet>();
  const [versions, removed] = [compactSet(), compactSet()];
  return {
    see: (event: SetEvent): void => {
      const { set_id, tenant_id } = event.data;
      touch(`set ${set_id}`);
      findings.checked('version');
      const say = wrong(findings, 'version', event);
      if (removed.has(set_id)) {
        say('It comes after the set was removed.');
        return;
      }
      const set = sets.get(set_id) ?? { tenant_id, versions: 0, documents: [] };
      checkSet(event, set, say);
      if (event.type === 'EvaluationSetRemoved') {
        sets.delete(set_id);
        removed.add(set_id);
        return;
      }
      const after = { ...set, versions: set.versions + 1, documents: documentsAfter(event, set.documents) };
      sets.set(set_id, after);
      versions.add(versionName({ ...after, set_id, version: after.versions }, after.documents));
    },
    /** Says why a run cannot have measured what it says. */
    checkRun: (event: AuditedEventOf<'BatchAccepted'>, { set_id, set_version }: Measured): void => {
      touch(`set ${set_id}`);
      const { tenant_id, document_ids } = event.data;
      if (versions.has(versionName({ set_id, tenant_id, version: set_version }, document_ids))) return;
      const [say, set] = [wrong(findings, 'evaluation', event), sets.get(set_id)];
      const of = `version ${set_version} of ${set_id}`;
      const isTheirs = set?.tenant_id === tenant_id && set_version >= 1 && set_version <= set.versions;
      if (isTheirs) say(`Its documents are not those of ${of}.`);
      else say(`It measures ${of}, which the tenant does not have.`);
    },
  };
};

/** A run measures a version of a set whole, and is scored once, when it has ended. */
export const evaluationsCheck = (looking: Looking) => {
  const { findings } = looking;
  const sets = setsCheck(looking);
  const runs = new Map<string, SeenRun>();
  const scored = compactSet();
  return byType({
    EvaluationSetPublished: sets.see,
    EvaluationSetReduced: sets.see,
    EvaluationSetRemoved: sets.see,
    BatchAccepted: (event) => {
      const { batch_id, document_ids, evaluated } = event.data;
      if (evaluated === undefined) return;
      findings.checked('evaluation');
      sets.checkRun(event, evaluated);
      const { set_id, set_version } = evaluated;
      const run_id = runIdOfBatch(batch_id);
      if (scored.has(run_id)) return;
      runs.set(run_id, { documents: document_ids.length, ended: false, set_id, set_version });
    },
    BatchEnded: ({ data: { batch_id } }) => {
      const run = runs.get(runIdOfBatch(batch_id));
      if (run !== undefined) runs.set(runIdOfBatch(batch_id), { ...run, ended: true });
    },
    EvaluationScored: (event) => {
      const { run_id } = event.data;
      findings.checked('evaluation');
      const known = { run: runs.get(run_id), isScored: scored.has(run_id) };
      checkScore(event, known, wrong(findings, 'evaluation', event));
      if (runs.delete(run_id)) scored.add(run_id);
    },
  });
};
