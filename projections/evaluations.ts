import { pick, type Projector, rowReader, table, textOf } from './engine/table.ts';
import { inserting, lastOf, updating, upserting } from './engine/bulk.ts';
import { only, type ProjectedEventOf } from './engine/ports.ts';
import { finding, listing, type Page, paging } from './engine/query.ts';
import { runIdOfBatch } from '../domain/evaluation.ts';
import { sortsBy } from './engine/sorts.ts';

/** Sets of examples by their latest version; a removed one has no row. */
export const evaluationSets = table({
  name: 'evaluation_sets',
  key: ['set_id'],
  columns: {
    set_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position replace',
    project_id: 'sorted replace',
    task_id: 'sorted replace',
    set_name: 'text? replace',
    version: 'int4 replace',
    documents: 'int4 replace',
    created_at: 'text',
    published_at: 'text replace',
  },
  indexes: ['(tenant_id, position desc)'],
});

/** Documents of sets, of any version until the set is removed, and of runs: what keeps something of a document. */
export const evaluationDocuments = table({
  name: 'evaluation_documents',
  key: ['document_id', 'id'],
  columns: {
    document_id: 'sorted',
    /** Of the set or the run. */
    id: 'sorted',
    tenant_id: 'sorted',
  },
  indexes: ['(id)'],
});

/** Runs of sets. Each is a batch, which says how far it is; what it measured is null until it is scored. */
export const evaluationRuns = table({
  name: 'evaluation_runs',
  key: ['run_id'],
  columns: {
    run_id: 'sorted',
    batch_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    set_id: 'sorted',
    set_version: 'int4',
    config_id: 'text?',
    config_version: 'int4?',
    artifact_id: 'text?',
    mode: 'text',
    schema_sha256: 'text',
    subject_sha256: 'sorted',
    documents: 'int4',
    accepted_at: 'text',
    tp: 'int4?',
    fp: 'int4?',
    fn: 'int4?',
    scored: 'int4?',
    left_out: 'int4?',
    report_sha256: 'text?',
    scored_at: 'sorted?',
  },
  indexes: ['(set_id, position desc)', '(tenant_id, position desc)', '(position) where scored_at is null'],
});

const publish = upserting(evaluationSets);
const name = inserting(evaluationDocuments, { firstStands: true });
const accept = inserting(evaluationRuns, { firstStands: true });
const score = updating(
  evaluationRuns,
  'run_id',
  'tp',
  'fp',
  'fn',
  'scored',
  'left_out',
  'report_sha256',
  'scored_at',
);

const setRow = ({ data, position }: ProjectedEventOf<'EvaluationSetPublished'>) => ({
  ...data,
  position,
  documents: data.examples.length,
});

const UNSCORED = {
  tp: null,
  fp: null,
  fn: null,
  scored: null,
  left_out: null,
  report_sha256: null,
  scored_at: null,
};

const setDocuments = ({
  data: { set_id: id, tenant_id, examples },
}: ProjectedEventOf<'EvaluationSetPublished'>) =>
  examples.map(({ document_id }) => ({ document_id, id, tenant_id }));

const runDocuments = ({
  data: { batch_id, tenant_id, document_ids, evaluated },
}: ProjectedEventOf<'BatchAccepted'>) =>
  evaluated === undefined
    ? []
    : document_ids.map((document_id) => ({ document_id, id: runIdOfBatch(batch_id), tenant_id }));

const runRows = ({ data, position }: ProjectedEventOf<'BatchAccepted'>) => {
  const { batch_id, tenant_id, document_ids, accepted_at, evaluated } = data;
  if (evaluated === undefined) return [];
  const run = { run_id: runIdOfBatch(batch_id), batch_id, tenant_id, position, accepted_at };
  return [{ ...run, ...evaluated, ...UNSCORED, documents: document_ids.length }];
};

type Reduced = ProjectedEventOf<'EvaluationSetReduced'>;

/** Sets after what was taken out of them, as far as their rows do not know it: the position says so. */
const REDUCE = `
  update {schema}.evaluation_sets s
  set documents = s.documents - r.taken, version = r.version, position = r.position, published_at = r.published_at
  from unnest($1::text[], $2::int4[], $3::int4[], $4::numeric[], $5::text[])
    as r(set_id, taken, version, position, published_at)
  where s.set_id = r.set_id and s.position < r.position`;

/** What was taken out of each set since its last whole version; of several events of one set, all together. */
const reductions = (events: readonly Reduced[], wholeAt: ReadonlyMap<string, bigint>) => {
  const bySet = new Map<string, { readonly event: Reduced; readonly taken: number }>();
  for (const event of events) {
    const { set_id, document_ids } = event.data;
    if (event.position < (wholeAt.get(set_id) ?? 0n)) continue;
    const taken = (bySet.get(set_id)?.taken ?? 0) + document_ids.length;
    bySet.set(set_id, { event, taken });
  }
  return [...bySet.values()];
};

const reduce = async (
  { tx, schema }: { readonly tx: Parameters<Projector['apply']>[0]; readonly schema: string },
  events: readonly Reduced[],
  published: readonly ProjectedEventOf<'EvaluationSetPublished'>[],
): Promise<void> => {
  const wholeAt = new Map(published.map(({ data: { set_id }, position }) => [set_id, position]));
  const rows = reductions(events, wholeAt);
  if (rows.length === 0) return;
  await tx.query(REDUCE.replace('{schema}', schema), [
    rows.map(({ event }) => event.data.set_id),
    rows.map(({ taken }) => taken),
    rows.map(({ event }) => event.data.version),
    rows.map(({ event }) => event.position.toString()),
    rows.map(({ event }) => event.data.published_at),
  ]);
};

/** Sets of examples, and what was measured with them. */
export const evaluationsProjector: Projector = {
  name: 'evaluations',
  version: 2,
  eventTypes: [
    'EvaluationSetPublished',
    'EvaluationSetReduced',
    'EvaluationSetRemoved',
    'BatchAccepted',
    'EvaluationScored',
  ],
  tables: [evaluationSets, evaluationDocuments, evaluationRuns],
  apply: async (tx, { schema, events }) => {
    const published = only(events, 'EvaluationSetPublished');
    const accepted = only(events, 'BatchAccepted');
    await publish(
      tx,
      schema,
      lastOf(published.map(setRow), ({ set_id }) => set_id),
    );
    await reduce({ tx, schema }, only(events, 'EvaluationSetReduced'), published);
    await name(
      tx,
      schema,
      lastOf(
        [...published.flatMap(setDocuments), ...accepted.flatMap(runDocuments)],
        ({ document_id, id }) => `${document_id} ${id}`,
      ),
    );
    // Nothing follows a removal, so its rows are deleted.
    const removed = only(events, 'EvaluationSetRemoved').map(({ data }) => data.set_id);
    if (removed.length > 0) {
      await tx.query(`delete from ${schema}.evaluation_sets where set_id = any($1::text[])`, [removed]);
      await tx.query(`delete from ${schema}.evaluation_documents where id = any($1::text[])`, [removed]);
    }
    await accept(tx, schema, accepted.flatMap(runRows));
    await score(
      tx,
      schema,
      only(events, 'EvaluationScored').map(({ data }) => data),
    );
  },
};

/** What is asked for in lists of sets and runs. */
interface OfTenant extends Page {
  readonly tenant_id: string;
}

/** A tenant's sets, last changed first, and how many there are in all. */
export const setsOfTenant = paging(
  {
    name: 'evaluation_sets',
    chosen: 'from read.evaluation_sets where tenant_id = $1',
    sorts: {
      ...sortsBy(evaluationSets.columns, 'set_id', 'project_id', 'task_id', 'version', 'documents'),
      ...sortsBy(evaluationSets.columns, 'created_at', 'published_at'),
    },
    searched: { columns: ['set_id', 'project_id', 'task_id'], written: ['set_name'] },
  },
  ({ tenant_id }: OfTenant) => [tenant_id],
  rowReader(evaluationSets.columns),
);

/** How the run `r`, which is the batch `b`, stands. */
const STATUS = `case
    when r.scored_at is not null then 'succeeded'
    when b.finished_at is not null then case when b.cancelled_at is null then 'scoring' else 'cancelled' end
    when b.cancelled_at is not null then 'cancelling'
    when b.begun > 0 then 'running'
    else 'queued'
  end`;

const RUN = `select r.*, ${STATUS} as status, b.started_at, b.finished_at, b.pages, b.credits_charged
  from read.evaluation_runs r join read.batches b on b.batch_id = r.batch_id`;

const runRow = rowReader({
  ...evaluationRuns.columns,
  status: 'text',
  started_at: 'text?',
  finished_at: 'text?',
  pages: 'int8?',
  credits_charged: 'int8?',
});
export type EvaluationRunRow = ReturnType<typeof runRow>;

interface RunsQuery extends OfTenant {
  readonly set_id?: string | undefined;
  readonly status?: string | undefined;
}

/** A tenant's runs, newest first, and how many there are in all. */
export const runsOfTenant = paging(
  {
    name: 'evaluation_runs',
    chosen: `from (${RUN}) runs where tenant_id = $1
      and ($2::text is null or set_id = $2) and ($3::text is null or status = $3)`,
    sorts: {
      ...sortsBy(evaluationRuns.columns, 'run_id', 'set_id', 'set_version', 'config_id', 'artifact_id'),
      ...sortsBy(evaluationRuns.columns, 'mode', 'documents', 'accepted_at', 'scored_at'),
      status: { by: '(status collate "C")', as: 'text' },
      ...sortsBy({ pages: 'int8?', started_at: 'text?', finished_at: 'text?' }, 'pages', 'started_at'),
      finished_at: { by: '(finished_at collate "C")', as: 'text', isNullable: true },
      credits_used: { by: 'credits_charged', as: 'int8', isNullable: true },
    },
    searched: { columns: ['run_id', 'set_id', 'config_id', 'artifact_id', 'mode', 'status'] },
  },
  ({ tenant_id, set_id, status }: RunsQuery) => [tenant_id, set_id ?? null, status ?? null],
  runRow,
);

export const runById = finding(
  `select * from (${RUN}) runs where run_id = $1`,
  (runId: string) => [runId],
  runRow,
);

/** The run of the same set that was accepted last before another one, and is scored. */
export const runBefore = finding(
  `select * from (${RUN}) runs where set_id = $1 and position < $2 and scored_at is not null
   order by position desc limit 1`,
  ({ set_id, position }: Pick<EvaluationRunRow, 'set_id' | 'position'>) => [set_id, position],
  runRow,
);

/** The last run of a version of a set that measured one subject, and is scored. */
export const lastRunOfSubject = finding(
  `select * from (${RUN}) runs where set_id = $1 and set_version = $2 and subject_sha256 = $3
     and scored_at is not null
   order by position desc limit 1`,
  (set: Pick<EvaluationRunRow, 'set_id' | 'set_version' | 'subject_sha256'>) => [
    set.set_id,
    set.set_version,
    set.subject_sha256,
  ],
  runRow,
);

/** Runs whose batch has ended by itself and that are not scored: the oldest of each tenant first, then the next. */
export const runsToScore = listing(
  `select r.run_id, r.batch_id, r.tenant_id from read.evaluation_runs r
     join read.batches b on b.batch_id = r.batch_id
   where r.scored_at is null and b.finished_at is not null and b.cancelled_at is null
     and r.run_id <> all($2::text[])
   order by row_number() over (partition by r.tenant_id order by r.position), r.position limit $1`,
  (limit: number, except: readonly string[]) => [limit, except],
  rowReader(pick(evaluationRuns.columns, 'run_id', 'batch_id', 'tenant_id')),
);

/** Sets and runs that keep something of a document. */
export const evaluationsOfDocument = listing(
  'select id, tenant_id from read.evaluation_documents where document_id = $1 order by id',
  (documentId: string) => [documentId],
  rowReader(pick(evaluationDocuments.columns, 'id', 'tenant_id')),
);

/** Those of the documents that some version of a set has. */
export const documentsInSets = listing(
  `select distinct document_id from read.evaluation_documents
   where document_id = any($1::text[]) and id like 'set\\_%'`,
  (documentIds: readonly string[]) => [documentIds],
  (row) => textOf(row, 'document_id'),
);
