import { runIdOfBatch } from '../../domain/evaluation.ts';
import { evaluationDocuments, evaluationRuns, evaluationSets } from '../../projections/evaluations.ts';
import { type AuditedEventOf, byType, type ExpectedModel, keptRows, noneOf } from './auditedEvent.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import { wrong } from './findings.ts';
import type { Books } from './rules.ts';

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

/** A set as far as the log was read. */
interface SeenSet {
  readonly tenant_id: string;
  /** A digest over the documents of each version, in their order: sets are large, and may have many versions. */
  readonly versions: string[];
  /** Documents of the latest version. */
  documents: readonly string[];
  removed: boolean;
}

interface SeenRun {
  readonly documents: number;
  readonly ended: boolean;
  readonly scored: boolean;
  readonly set_id: string;
  readonly set_version: number;
}

type SetEvent = AuditedEventOf<'EvaluationSetPublished' | 'EvaluationSetReduced' | 'EvaluationSetRemoved'>;

const documentsIn = (ids: readonly string[]): string => sha256(ids.join(' ')).slice(0, 32);

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
  const due = seen.versions.length + 1;
  if (seen.removed) say('It comes after the set was removed.');
  else if (seen.tenant_id !== event.data.tenant_id)
    say('It gives the set to another tenant.', seen.tenant_id, event.data.tenant_id);
  else if (event.type === 'EvaluationSetRemoved') {
    if (due === 1) say('It removes a set that was never published.');
  } else if (event.data.version !== due)
    say(`Version ${event.data.version} was published where ${due} belongs.`, due, event.data.version);
  else if (event.type === 'EvaluationSetReduced') checkReduced(event, seen.documents, say);
};

/** Says why a run cannot have measured what it says. */
const checkRun = (
  { data }: AuditedEventOf<'BatchAccepted'>,
  set: SeenSet | undefined,
  say: ReturnType<typeof wrong>,
): void => {
  const { evaluated, tenant_id, document_ids } = data;
  if (evaluated === undefined) return;
  const of = `version ${evaluated.set_version} of ${evaluated.set_id}`;
  const due = set?.tenant_id === tenant_id ? set.versions[evaluated.set_version - 1] : undefined;
  if (due === undefined) say(`It measures ${of}, which the tenant does not have.`);
  else if (due !== documentsIn(document_ids)) say(`Its documents are not those of ${of}.`);
};

/** Versions of sets follow one another; a run measures one of them whole, and is scored once, when it has ended. */
export const evaluationsCheck = ({ findings, touch }: Pick<Books, 'findings' | 'touch'>) => {
  const sets = new Map<string, SeenSet>();
  const runs = new Map<string, SeenRun>();
  const seeSet = (event: SetEvent): void => {
    const { set_id, tenant_id } = event.data;
    touch(`set ${set_id}`);
    findings.checked('version');
    const set = sets.get(set_id) ?? { tenant_id, versions: [], documents: [], removed: false };
    sets.set(set_id, set);
    checkSet(event, set, wrong(findings, 'version', event));
    set.documents = documentsAfter(event, set.documents);
    if (event.type === 'EvaluationSetRemoved') set.removed = true;
    else set.versions.push(documentsIn(set.documents));
  };
  const seeScore = (event: AuditedEventOf<'EvaluationScored'>): void => {
    const { run_id, batch_id, scored, left_out, set_id, set_version } = event.data;
    findings.checked('evaluation');
    const say = wrong(findings, 'evaluation', event);
    const run = runs.get(run_id);
    if (run === undefined || runIdOfBatch(batch_id) !== run_id) say(`${run_id} was never accepted.`);
    else if (run.scored) say(`${run_id} was scored twice.`);
    else if (!run.ended) say(`${run_id} was scored before it had ended.`);
    else if (run.documents !== scored + left_out)
      say(`${run_id} says of other documents than it has.`, run.documents, scored + left_out);
    else if (run.set_id !== set_id || run.set_version !== set_version)
      say(
        `${run_id} was scored for another set than it measures.`,
        `version ${run.set_version} of ${run.set_id}`,
        `version ${set_version} of ${set_id}`,
      );
    if (run !== undefined) runs.set(run_id, { ...run, scored: true });
  };
  return byType({
    EvaluationSetPublished: seeSet,
    EvaluationSetReduced: seeSet,
    EvaluationSetRemoved: seeSet,
    BatchAccepted: (event) => {
      const { batch_id, document_ids, evaluated } = event.data;
      if (evaluated === undefined) return;
      touch(`set ${evaluated.set_id}`);
      findings.checked('evaluation');
      checkRun(event, sets.get(evaluated.set_id), wrong(findings, 'evaluation', event));
      const { set_id, set_version } = evaluated;
      const open = { documents: document_ids.length, ended: false, scored: false };
      runs.set(runIdOfBatch(batch_id), { ...open, set_id, set_version });
    },
    BatchEnded: ({ data: { batch_id } }) => {
      const run = runs.get(runIdOfBatch(batch_id));
      if (run !== undefined) runs.set(runIdOfBatch(batch_id), { ...run, ended: true });
    },
    EvaluationScored: seeScore,
  });
};
