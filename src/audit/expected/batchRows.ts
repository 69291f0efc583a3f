import { operationIdOfDocument } from '../../../domain/batch.ts';
import { batchDocuments, batches } from '../../../projections/batches.ts';
import { byType } from '../log/auditedEvent.ts';
import { keptRows, noneOf, type ExpectedModel } from './expectedRows.ts';

const placeOf = (batchId: string, index: number): string => `${batchId}/${String(index)}`;

/** Batches and their documents as they stand. */
export const batchRows: ExpectedModel = {
  name: 'batches',
  tables: [batches, batchDocuments],
  start: (emit) => {
    const rows = keptRows(batches, emit);
    const documents = keptRows(batchDocuments, emit);
    const apply = byType({
      BatchAccepted: ({ data, position }) => {
        const { batch_id, tenant_id, document_ids } = data;
        const counts = { documents: document_ids.length, begun: 0 };
        rows.set(batch_id, { ...noneOf(batches.columns), ...data, position, ...counts });
        for (const [index, document_id] of document_ids.entries())
          documents.set(placeOf(batch_id, index), {
            ...{ ...noneOf(batchDocuments.columns), batch_id, index, document_id },
            operation_id: operationIdOfDocument({ tenant_id, batch_id, index }),
          });
      },
      BatchDocumentsBegun: ({ data: { batch_id, first, count, begun_at } }) => {
        const started_at = rows.get(batch_id)?.started_at ?? begun_at;
        rows.change(batch_id, { begun: first + count, started_at });
        for (let index = first; index < first + count; index += 1)
          documents.change(placeOf(batch_id, index), { begun_at });
      },
      BatchDocumentsRefused: ({ data: { batch_id, refused } }) => {
        for (const { index, code: problem_code } of refused)
          documents.change(placeOf(batch_id, index), { problem_code });
      },
      BatchCancelled: ({ data: { batch_id, cancelled_at } }) => rows.change(batch_id, { cancelled_at }),
      BatchEnded: ({ data: { batch_id, tenant_id: _, ended_at: finished_at, ...came } }) =>
        rows.change(batch_id, { ...came, finished_at }),
    });
    const finish = () => {
      rows.emitAll();
      documents.emitAll();
    };
    return { apply, finish };
  },
};
