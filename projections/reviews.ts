import { laterBy } from '../domain/kernel/amounts.ts';
import { DECIDED_KEPT_MS, reviewIdOf, UNDECIDED_KEPT_MS } from '../domain/review.ts';
import { inserting, updating } from './engine/bulk.ts';
import { only, type ProjectedEvent, type ProjectedEventOf } from './engine/ports.ts';
import { listing, type Page, paging } from './engine/query.ts';
import { pick, type Projector, rowReader, table } from './engine/table.ts';
import { sortBy, sortsBy } from './engine/sorts.ts';

/**
 * Reviews as they stand. What was decided is null while the review is open; `kept_until`: when it is too late to
 * decide, or when the decision goes.
 */
export const reviews = table({
  name: 'reviews',
  key: ['review_id'],
  columns: {
    review_id: 'sorted',
    operation_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    /** Their codes, with spaces between them. */
    reasons: 'text',
    /** Of the least sure value in doubt, in ten-thousandths; null: no doubt is about confidence. */
    least_confidence: 'int4?',
    generation: 'int4',
    opened_at: 'sorted',
    kept_until: 'sorted',
    held_by: 'text?',
    lease_until: 'text?',
    decided_at: 'text?',
    decided_by: 'text?',
    read: 'int4?',
    confirmed: 'int4?',
    corrected: 'int4?',
    /** Required values that the document does not say; null: none. */
    absent: 'int4?',
    /** The reason of a rejection; null: it is not rejected. Then `decided_at` and `decided_by` are of the rejection. */
    rejection: 'text?',
    /** The batch that the decided parts of a stack become. */
    then_batch_id: 'sorted?',
  },
  indexes: [
    '(tenant_id, position desc)',
    '(operation_id)',
    '(kept_until) where decided_at is null',
    '(then_batch_id) where then_batch_id is not null',
  ],
});

const open = inserting(reviews, { firstStands: true });
const hold = updating(reviews, 'review_id', 'held_by', 'lease_until');
const settle = updating(
  reviews,
  'review_id',
  'generation',
  'held_by',
  'lease_until',
  'decided_at',
  'decided_by',
  'read',
  'confirmed',
  'corrected',
  'absent',
  'rejection',
  'then_batch_id',
);
/** One that is opened again is kept as long as what was decided before. */
const keep = updating(reviews, 'review_id', 'kept_until');

const NOBODY = { held_by: null, lease_until: null };
const UNCOUNTED = { read: null, confirmed: null, corrected: null, absent: null, then_batch_id: null };
const UNDECIDED = { ...UNCOUNTED, decided_at: null, decided_by: null, rejection: null };

const openedRows = ({ data, position }: ProjectedEventOf<'OperationSucceeded'>) => {
  const { review, operation_id, tenant_id, succeeded_at: opened_at } = data;
  if (review === undefined) return [];
  const kept_until = laterBy(opened_at, UNDECIDED_KEPT_MS);
  return [
    {
      review_id: reviewIdOf(operation_id),
      operation_id,
      tenant_id,
      position,
      opened_at,
      kept_until,
      ...NOBODY,
      ...UNDECIDED,
      reasons: review.reasons.join(' '),
      least_confidence:
        review.least_confidence === undefined ? null : Math.round(review.least_confidence * 10_000),
      generation: 1,
    },
  ];
};

type Settled = ProjectedEventOf<'ReviewDecided' | 'ReviewRejected' | 'ReviewReopened'>;

const settledRow = ({ type, data }: Settled) => {
  if (type === 'ReviewReopened') return { ...data, ...NOBODY, ...UNDECIDED };
  if (type === 'ReviewDecided') {
    const { absent = null, then_batch_id = null } = data;
    return { ...data, ...NOBODY, absent, then_batch_id, rejection: null };
  }
  const { review_id, generation, reason: rejection, rejected_at: decided_at, rejected_by: decided_by } = data;
  return { ...NOBODY, ...UNCOUNTED, review_id, generation, rejection, decided_at, decided_by };
};

const isSettled = (event: ProjectedEvent): event is Settled =>
  event.type === 'ReviewDecided' || event.type === 'ReviewRejected' || event.type === 'ReviewReopened';

/** The latest state of each review, and its holder since then. */
const movesIn = (events: readonly ProjectedEvent[]) => {
  const settled = new Map<string, ReturnType<typeof settledRow>>();
  const held = new Map<string, ProjectedEventOf<'ReviewLeased'>['data']>();
  for (const event of events)
    if (isSettled(event)) {
      settled.set(event.data.review_id, settledRow(event));
      held.delete(event.data.review_id);
    } else if (event.type === 'ReviewLeased') held.set(event.data.review_id, event.data);
  return { settled: [...settled.values()], held: [...held.values()] };
};

/** Results that a person has to look at, and what became of each. */
export const reviewsProjector: Projector = {
  name: 'reviews',
  version: 5,
  eventTypes: ['OperationSucceeded', 'ReviewLeased', 'ReviewDecided', 'ReviewRejected', 'ReviewReopened'],
  tables: [reviews],
  apply: async (tx, { schema, events }) => {
    const { settled, held } = movesIn(events);
    await open(tx, schema, only(events, 'OperationSucceeded').flatMap(openedRows));
    await settle(tx, schema, settled);
    await hold(tx, schema, held);
    const decided = new Map(
      only(events, 'ReviewDecided').map(({ data }) => [data.review_id, data.decided_at]),
    );
    await keep(
      tx,
      schema,
      [...decided].map(([review_id, at]) => ({ review_id, kept_until: laterBy(at, DECIDED_KEPT_MS) })),
    );
  },
};

/** Which reviews of a tenant to list, as they stand at `now`. */
interface ReviewsQuery extends Page {
  readonly tenant_id: string;
  readonly status?: string | undefined;
  /** true: those that somebody decided or rejected; false: those that can be decided. */
  readonly decided?: boolean | undefined;
  readonly now: string;
}

const STATUS = `case
    when r.kept_until <= $2 or d.erased_at is not null then 'expired'
    when r.rejection is not null then 'rejected'
    when r.decided_at is not null then 'decided'
    when r.lease_until > $2 then 'leased'
    else 'open'
  end`;

const CHOSEN = `from (
    select r.*, o.project_id, o.task_id, o.document_id, o.pages, d.file_name, d.erased_at, ${STATUS} as status
    from read.reviews r join read.operations o on o.operation_id = r.operation_id
      left join read.documents d on d.document_id = o.document_id
    where r.tenant_id = $1
  ) reviews where ($3::text is null or status = $3)
    and ($4::bool is null
      or status = any(case when $4 then array['decided', 'rejected'] else array['open', 'leased'] end))`;

/** A tenant's reviews, newest first, and how many there are in all. */
export const reviewsOfTenant = paging(
  {
    name: 'reviews',
    chosen: CHOSEN,
    sorts: {
      ...sortsBy(reviews.columns, 'review_id', 'operation_id', 'generation', 'opened_at', 'decided_at'),
      ...sortsBy(reviews.columns, 'least_confidence'),
      ...sortsBy({ project_id: 'sorted', task_id: 'sorted' }, 'project_id', 'task_id'),
      ...sortsBy({ document_id: 'sorted', pages: 'int8', status: 'text' }, 'document_id', 'pages', 'status'),
      expires_at: sortBy(reviews.columns, 'kept_until'),
    },
    searched: {
      columns: ['review_id', 'operation_id', 'document_id', 'project_id', 'task_id', 'status', 'reasons'],
      written: ['file_name'],
    },
  },
  (query: ReviewsQuery) => [query.tenant_id, query.now, query.status ?? null, query.decided ?? null],
  rowReader({
    ...pick(
      reviews.columns,
      'review_id',
      'operation_id',
      'tenant_id',
      'reasons',
      'least_confidence',
      'generation',
      'opened_at',
      'kept_until',
      'held_by',
      'lease_until',
      'decided_at',
      'decided_by',
      'read',
      'confirmed',
      'corrected',
      'rejection',
    ),
    project_id: 'text',
    task_id: 'text',
    document_id: 'text',
    pages: 'int8',
    file_name: 'text?',
    erased_at: 'text?',
    status: 'text',
  }),
);

/** Which decisions of a tenant to list: those that are kept at `now`, of a time (`until` is exclusive). */
interface DecisionsQuery {
  readonly tenant_id: string;
  readonly now: string;
  readonly from: string | null;
  readonly until: string | null;
  readonly limit: number;
}

/** Documents that were decided, the last decision first. */
export const decisionsOfTenant = listing(
  `select r.operation_id
   from read.reviews r join read.operations o on o.operation_id = r.operation_id
     join read.documents d on d.document_id = o.document_id
   where r.tenant_id = $1 and r.decided_at is not null and r.rejection is null and r.kept_until > $2
     and d.erased_at is null
     and ($3::text is null or r.decided_at >= $3) and ($4::text is null or r.decided_at < $4)
   order by r.decided_at desc, r.position desc limit $5`,
  ({ tenant_id, now, from, until, limit }: DecisionsQuery) => [tenant_id, now, from, until, limit],
  rowReader({ operation_id: 'sorted' }),
);
