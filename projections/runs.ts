import { only, type ProjectedEvent, type ProjectedEventOf, type SqlTx } from './engine/ports.ts';
import { omit, pick, type Projector, type Row, rowReader, table, tagsOf, textOf } from './engine/table.ts';
import { bulk, type BulkRow, upserting } from './engine/bulk.ts';
import { finding, type Page } from './engine/query.ts';
import { sortsBy } from './engine/sorts.ts';
import { pagingOfTagged, taggingIn, tagsColumn, tagTable } from './engine/tagged.ts';
import type { Tags } from '../domain/kernel/tags.ts';
import {
  operationOfKind,
  type WorkCompletedType,
  type WorkFailedType,
  workOfUsage,
  type WorkRequestedType,
} from '../domain/workEvents.ts';

/**
 * Billed work of any kind, on documents and training jobs, waited for or not. What is learned of a run
 * after its first event fills columns that were null.
 */
export const runs = table({
  name: 'runs',
  key: ['run_id'],
  columns: {
    /** The work on a document, which burns name, or the training job. */
    run_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    kind: 'sorted',
    project_id: 'sorted',
    task_id: 'sorted',
    api_key_id: 'sorted',
    tags: 'jsonb?',
    /** null for work whose caller waited, and for training jobs. */
    operation_id: 'sorted?',
    /** null for training jobs. */
    document_id: 'sorted?',
    config_id: 'sorted? replace',
    config_version: 'int8? replace',
    mode: 'sorted? replace',
    model: 'sorted? replace',
    pages: 'int8? replace',
    requested_at: 'sorted',
    /** null while it waits in the queue. */
    began_at: 'sorted? replace',
    /** null while it has not ended. */
    ended_as: 'sorted? replace',
    problem_code: 'sorted? replace',
    finished_at: 'sorted? replace',
    duration_ms: 'int8? replace',
    /** null before it was burned, and for work that is not billed. */
    credits: 'int8? replace',
    free_pages: 'int8? replace',
    balance_after: 'int8? replace',
    /** Of the stored result that was paid for. */
    result_sha256: 'text? replace',
  },
  indexes: ['(tenant_id, position desc)', '(operation_id) where operation_id is not null', '(document_id)'],
  fillfactor: 80,
});

/** Tags of runs. */
export const runTags = tagTable('run_tags');

/** What is learned of a run later; null tells nothing. */
const LEARNED = pick(
  runs.columns,
  'config_id',
  'config_version',
  'mode',
  'model',
  'pages',
  'began_at',
  'ended_as',
  'problem_code',
  'finished_at',
  'duration_ms',
  'credits',
  'free_pages',
  'balance_after',
  'result_sha256',
);
const learned = bulk({ id: 'sorted', ...LEARNED });
type Learned = Partial<Omit<BulkRow<typeof learned>, 'id'>>;

const NOTHING = Object.fromEntries(Object.keys(LEARNED).map((name) => [name, null])) as {
  readonly [Name in keyof typeof LEARNED]: null;
};

const LEARN = (schema: string) => `
  update ${schema}.runs r set ${Object.keys(LEARNED)
    .map((name) => `${name} = coalesce(u.${name}, r.${name})`)
    .join(', ')}
  from ${learned.source()} where r.run_id = u.id`;

/** The runs of operations. */
const RUNS_OF = (schema: string) =>
  `select operation_id, run_id from ${schema}.runs where operation_id = any($1::text[])`;

type Requested = ProjectedEventOf<WorkRequestedType>;

/** What the first event of a run tells. */
const firstOf = (event: ProjectedEvent): Row<typeof runs> | undefined => {
  switch (event.type) {
    case 'OperationAccepted': {
      const { work_id, kind, accepted_at, operation_id, document_id, mode, pages } = event.data;
      const known = { operation_id, document_id, mode, pages };
      return { ...firstMembers(event), run_id: work_id, kind, requested_at: accepted_at, ...known };
    }
    case 'ExtractionRequested':
    case 'ConversionRequested':
    case 'ClassificationRequested':
    case 'SplitRequested': {
      const { requested_at, document_id } = event.data;
      const kind = operationOfKind(workOfUsage(event.data).kind);
      const known = { run_id: workOf(event.data), kind, requested_at, document_id };
      return { ...firstMembers(event), ...known, ...begun(event) };
    }
    case 'TrainingJobCreated': {
      const { job_id, created_at, mode } = event.data;
      return { ...firstMembers(event), run_id: job_id, kind: 'training', requested_at: created_at, mode };
    }
    default:
      return undefined;
  }
};

const firstMembers = ({
  data,
  position,
}: Requested | ProjectedEventOf<'OperationAccepted' | 'TrainingJobCreated'>) => {
  const { tenant_id, project_id, task_id, api_key_id } = data;
  const tags = tagsColumn(data);
  const none = { ...NOTHING, operation_id: null, document_id: null };
  return { ...none, tenant_id, position, project_id, task_id, api_key_id, tags };
};

const workOf = (data: Parameters<typeof workOfUsage>[0]): string => workOfUsage(data).id;

const begun = ({ data }: Requested) => {
  const { mode, model, pages, requested_at: began_at } = data;
  const { config_id = null, config_version = null } = 'config_id' in data ? data : {};
  return { mode, model, pages, began_at, config_id, config_version };
};

/** The code of work whose caller left, or that was cancelled. */
const ABORTED = 'request_aborted';

const endedAs = (code: string): string => (code === ABORTED ? 'cancelled' : 'failed');

interface News {
  readonly key: 'run_id' | 'operation_id';
  readonly id: string;
  readonly learned: Learned;
}

const ofRun = (id: string, learned: Learned): News => ({ key: 'run_id', id, learned });

/** What further events tell of a run; each names it by one of two IDs. */
const TOLD: {
  readonly [Type in ProjectedEvent['type']]?: (event: ProjectedEventOf<Type>) => News;
} = {
  ExtractionRequested: (event) => ofRun(workOf(event.data), begun(event)),
  ConversionRequested: (event) => ofRun(workOf(event.data), begun(event)),
  ClassificationRequested: (event) => ofRun(workOf(event.data), begun(event)),
  SplitRequested: (event) => ofRun(workOf(event.data), begun(event)),
  ExtractionCompleted: (event) => completed(event),
  ConversionCompleted: (event) => completed(event),
  ClassificationCompleted: (event) => completed(event),
  SplitCompleted: (event) => completed(event),
  ExtractionFailed: (event) => failed(event),
  ConversionFailed: (event) => failed(event),
  ClassificationFailed: (event) => failed(event),
  SplitFailed: (event) => failed(event),
  OperationFailed: ({ data: { operation_id: id, code: problem_code, failed_at: finished_at } }) => ({
    key: 'operation_id',
    id,
    learned: { ended_as: 'failed', problem_code, finished_at },
  }),
  OperationCancelled: ({ data: { operation_id: id, cancelled_at: finished_at } }) => ({
    key: 'operation_id',
    id,
    learned: { ended_as: 'cancelled', problem_code: ABORTED, finished_at },
  }),
  TrainingJobStarted: ({ data: { job_id, started_at: began_at } }) => ofRun(job_id, { began_at }),
  TrainingJobSucceeded: ({ data: { job_id, succeeded_at: finished_at } }) =>
    ofRun(job_id, { ended_as: 'succeeded', finished_at }),
  TrainingJobFailed: ({ data: { job_id, code: problem_code, failed_at: finished_at } }) =>
    ofRun(job_id, { ended_as: 'failed', problem_code, finished_at }),
  TrainingJobCancelled: ({ data: { job_id, cancelled_at: finished_at } }) =>
    ofRun(job_id, { ended_as: 'cancelled', problem_code: ABORTED, finished_at }),
  CreditsBurned: ({ data: { operation_id, credits, free_pages, balance_after, delivered } }) => {
    const result_sha256 = delivered?.result_sha256 ?? null;
    return ofRun(operation_id, { credits, free_pages, balance_after, result_sha256 });
  },
};

const completed = ({ data }: ProjectedEventOf<WorkCompletedType>): News => {
  const { status, pages, duration_ms, completed_at: finished_at, result_sha256 = null } = data;
  const ended_as = status === 'partial' ? 'partial' : 'succeeded';
  return ofRun(workOf(data), { ended_as, pages, duration_ms, finished_at, result_sha256 });
};

const failed = ({ data }: ProjectedEventOf<WorkFailedType>): News => {
  const { code: problem_code, failed_at: finished_at } = data;
  return ofRun(workOf(data), { ended_as: endedAs(problem_code), problem_code, finished_at });
};

const toldIn = (event: ProjectedEvent): News | undefined =>
  (TOLD[event.type] as ((event: ProjectedEvent) => News) | undefined)?.(event);

/** What is news stands in the place of what was known; null is no news. */
const withNews = <Known extends Learned>(known: Known, news: Learned): Known => ({
  ...known,
  ...Object.fromEntries(Object.entries(news).filter(([, value]) => value !== null)),
});

/**
 * The runs that begin in a batch, with all that the batch tells of them, and what it tells of earlier ones, of which
 * `runOf` has those that it names by their operations: the last word on a run is the log's, whatever it is named by.
 */
const batchOf = (events: readonly ProjectedEvent[], runOf: ReadonlyMap<string, string>) => {
  const fresh = new Map<string, Row<typeof runs>>();
  const idOfOperation = new Map(runOf);
  const earlier = new Map<string, Learned>();
  const tell = ({ key, id, learned: news }: News): void => {
    const run_id = key === 'run_id' ? id : idOfOperation.get(id);
    if (run_id === undefined) return;
    const row = fresh.get(run_id);
    if (row === undefined) earlier.set(run_id, withNews(earlier.get(run_id) ?? {}, news));
    else fresh.set(run_id, withNews(row, news));
  };
  for (const event of events) {
    const first = firstOf(event);
    if (first !== undefined && !fresh.has(first.run_id)) {
      fresh.set(first.run_id, first);
      if (first.operation_id !== null) idOfOperation.set(first.operation_id, first.run_id);
    }
    const news = toldIn(event);
    if (news !== undefined) tell(news);
  }
  return { fresh: [...fresh.values()], earlier };
};

const begin = upserting(runs);
const tag = taggingIn(runTags);

/** The runs of the operations that a batch names without their work, as far as they began before it. */
const runsNamed = async (
  tx: SqlTx,
  schema: string,
  events: readonly ProjectedEvent[],
): Promise<ReadonlyMap<string, string>> => {
  const named = only(events, 'OperationFailed', 'OperationCancelled').map(({ data }) => data.operation_id);
  if (named.length === 0) return new Map();
  const rows = await tx.query(RUNS_OF(schema), [named]);
  return new Map(rows.map((row) => [textOf(row, 'operation_id'), textOf(row, 'run_id')]));
};

const learn = async (tx: SqlTx, schema: string, { earlier }: ReturnType<typeof batchOf>): Promise<void> => {
  const rows = [...earlier].map(([id, news]) => ({ id, ...NOTHING, ...news }));
  if (rows.length > 0) await tx.query(LEARN(schema), learned.values(rows));
};

/** All billed work. */
export const runsProjector: Projector = {
  name: 'runs',
  version: 3,
  eventTypes: [
    'OperationAccepted',
    'OperationFailed',
    'OperationCancelled',
    'ExtractionRequested',
    'ExtractionCompleted',
    'ExtractionFailed',
    'ConversionRequested',
    'ConversionCompleted',
    'ConversionFailed',
    'ClassificationRequested',
    'ClassificationCompleted',
    'ClassificationFailed',
    'SplitRequested',
    'SplitCompleted',
    'SplitFailed',
    'TrainingJobCreated',
    'TrainingJobStarted',
    'TrainingJobSucceeded',
    'TrainingJobFailed',
    'TrainingJobCancelled',
    'CreditsBurned',
  ],
  tables: [runs, runTags],
  apply: async (tx, { schema, events }) => {
    const batch = batchOf(events, await runsNamed(tx, schema, events));
    // Before the runs of this batch: what the log says of work before it was asked for changes nothing.
    await learn(tx, schema, batch);
    await begin(tx, schema, batch.fresh);
    await tag(tx, schema, taggedIn(events));
  },
};

const REQUESTED = [
  'ExtractionRequested',
  'ConversionRequested',
  'ClassificationRequested',
  'SplitRequested',
] as const satisfies readonly WorkRequestedType[];

const taggedIn = (events: readonly ProjectedEvent[]) => [
  ...only(events, 'OperationAccepted').map(({ data }) => ({ ...data, work: data.work_id })),
  ...only(events, ...REQUESTED).map(({ data }) => ({ ...data, work: workOf(data) })),
  ...only(events, 'TrainingJobCreated').map(({ data }) => ({ ...data, work: data.job_id })),
];

/** Which runs of a tenant to list. `from` and `to` are inclusive. */
interface RunsQuery extends Page {
  readonly tenant_id: string;
  readonly kind?: string | undefined;
  readonly status?: string | undefined;
  readonly document_id?: string | undefined;
  readonly config_id?: string | undefined;
  readonly key_id?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Tags that it must have. */
  readonly tag?: Tags | undefined;
  /** Reviews expire by it. */
  readonly now: string;
}

/**
 * As callers see it: what a person has to look at has not simply succeeded, until it is too late to look. `now`: the
 * parameter with the time.
 */
const statusAt = (now: string): string => `case
    when v.rejection is not null then 'failed'
    when v.decided_at is null and (v.kept_until <= ${now} or d.erased_at is not null)
      then coalesce(r.ended_as, 'succeeded')
    when v.review_id is not null and v.decided_at is null then 'needs_review'
    when v.review_id is not null and v.absent is not null then 'partial'
    when v.review_id is not null then 'succeeded'
    when r.ended_as is not null then r.ended_as
    when r.began_at is not null then 'running'
    else 'queued'
  end`;

/** Runs with their document, and with what a person made of them. */
const shownAt = (now: string): string => `
  select r.run_id, r.tenant_id, r.position, r.kind, r.project_id, r.task_id, r.api_key_id as key_id, r.tags,
    r.operation_id, r.document_id, r.config_id, r.config_version, r.mode, r.model, r.pages, r.requested_at,
    r.finished_at, r.duration_ms, r.credits as credits_used,
    r.free_pages, r.balance_after, r.result_sha256, ${statusAt(now)} as status,
    case when v.rejection is null then r.problem_code else 'review_rejected' end as problem_code,
    v.review_id, d.file_name, d.mime_type, d.erased_at
  from read.runs r
    left join read.reviews v on v.operation_id = r.operation_id
    left join read.documents d on d.document_id = r.document_id`;

const CHOSEN = `from (${shownAt('$9')} where r.tenant_id = $1) runs
  where tenant_id = $1
    and ($2::text is null or kind = $2)
    and ($3::text is null or status = $3)
    and ($4::text is null or document_id = $4)
    and ($5::text is null or config_id = $5)
    and ($6::text is null or key_id = $6)
    and ($7::text is null or requested_at >= $7)
    and ($8::text is null or requested_at <= $8)`;

const shownColumns = {
  ...omit(runs.columns, 'position', 'api_key_id', 'tags', 'began_at', 'ended_as', 'credits'),
  key_id: 'sorted',
  credits_used: 'int8?',
  status: 'text',
  review_id: 'text?',
  file_name: 'text?',
  mime_type: 'text?',
  erased_at: 'text?',
} as const;

const readRun = rowReader(shownColumns);

/** A tenant's runs, newest first, and how many there are in all. */
export const runsOfTenant = pagingOfTagged(
  {
    name: 'runs',
    chosen: CHOSEN,
    tags: runTags,
    id: 'run_id',
    sorts: sortsBy(
      shownColumns,
      'run_id',
      'kind',
      'status',
      'document_id',
      'config_id',
      'key_id',
      'project_id',
      'task_id',
      'mode',
      'model',
      'pages',
      'credits_used',
      'problem_code',
      'requested_at',
      'finished_at',
      'duration_ms',
    ),
    searched: {
      columns: [
        'run_id',
        'operation_id',
        'document_id',
        'config_id',
        'key_id',
        'project_id',
        'task_id',
        'kind',
        'status',
        'model',
        'problem_code',
        'requested_at',
        'tags::text',
      ],
      written: ['file_name'],
    },
    values: (query: RunsQuery) => [
      query.tenant_id,
      query.kind ?? null,
      query.status ?? null,
      query.document_id ?? null,
      query.config_id ?? null,
      query.key_id ?? null,
      query.from ?? null,
      query.to ?? null,
      query.now,
    ],
  },
  readRun,
);

/** One run as it stands at `now`, by its ID or that of its operation; undefined: there is none. */
export const runById = finding(
  `${shownAt('$2')} where r.run_id = $1 or r.operation_id = $1`,
  ({ id, now }: { readonly id: string; readonly now: string }) => [id, now],
  (row) => ({ ...readRun(row), tags: tagsOf(row) }),
);
