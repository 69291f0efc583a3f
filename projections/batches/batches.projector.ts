import { operationIdOfDocument } from '../../domain/batch/identity.ts';
import { inserting, updating } from '../engine/apply/bulk.ts';
import { only, type ProjectedEventOf } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { batchDocuments, batches } from './batches.schema.ts';

const accept = inserting(batches, { firstStands: true });
const list = inserting(batchDocuments, { firstStands: true });
const begin = updating(batches, 'batch_id', 'begun');
const start = updating(batches, 'batch_id', 'started_at');
const cancel = updating(batches, 'batch_id', 'cancelled_at');
const end = updating(
  batches,
  ...(['batch_id', 'finished_at', 'succeeded', 'partial', 'failed', 'cancelled'] as const),
  ...(['pages', 'credits_charged'] as const),
);
const beginDocument = updating(batchDocuments, 'batch_id', 'index', 'begun_at');
const refuseDocument = updating(batchDocuments, 'batch_id', 'index', 'problem_code');

type Accepted = ProjectedEventOf<'BatchAccepted'>;
type Begun = ProjectedEventOf<'BatchDocumentsBegun'>;

const NOTHING_YET = {
  ...{ begun: 0, started_at: null, cancelled_at: null, finished_at: null },
  ...{ succeeded: null, partial: null, failed: null, cancelled: null, pages: null, credits_charged: null },
};

const rowOf = ({ data, position }: Accepted) => ({
  ...data,
  ...NOTHING_YET,
  position,
  documents: data.document_ids.length,
});

const documentsOf = ({ data: { batch_id, tenant_id, document_ids } }: Accepted) =>
  document_ids.map((document_id, index) => ({
    ...{ batch_id, index, document_id, begun_at: null, problem_code: null },
    operation_id: operationIdOfDocument({ tenant_id, batch_id, index }),
  }));

/** One row a batch: the last says how many are begun. */
const furthest = (events: readonly Begun[]) => [
  ...new Map(
    events.map(({ data: { batch_id, first, count } }) => [batch_id, { batch_id, begun: first + count }]),
  ).values(),
];

const begunDocuments = ({ data: { batch_id, first, count, begun_at } }: Begun) =>
  Array.from({ length: count }, (_, at) => ({ batch_id, index: first + at, begun_at }));

/** Batches, and the place of each of their documents. */
export const batchesProjector: Projector = {
  name: 'batches',
  version: 1,
  eventTypes: [
    'BatchAccepted',
    'BatchDocumentsBegun',
    'BatchDocumentsRefused',
    'BatchCancelled',
    'BatchEnded',
  ],
  tables: [batches, batchDocuments],
  apply: async (tx, { schema, events }) => {
    const accepted = only(events, 'BatchAccepted');
    const begun = only(events, 'BatchDocumentsBegun');
    const refused = only(events, 'BatchDocumentsRefused').flatMap(({ data: { batch_id, refused: some } }) =>
      some.map(({ index, code: problem_code }) => ({ batch_id, index, problem_code })),
    );
    const started = begun
      .filter(({ data }) => data.first === 0)
      .map(({ data: { batch_id, begun_at: started_at } }) => ({ batch_id, started_at }));
    const ended = only(events, 'BatchEnded').map(({ data }) => ({ ...data, finished_at: data.ended_at }));
    await accept(tx, schema, accepted.map(rowOf));
    await list(tx, schema, accepted.flatMap(documentsOf));
    await begin(tx, schema, furthest(begun));
    await start(tx, schema, started);
    await beginDocument(tx, schema, begun.flatMap(begunDocuments));
    await refuseDocument(tx, schema, refused);
    await cancel(
      tx,
      schema,
      only(events, 'BatchCancelled').map(({ data }) => data),
    );
    await end(tx, schema, ended);
  },
};
