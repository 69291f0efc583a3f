import { operationIdFor } from '../operation/identity.ts';
import { digestText } from '../queue/digestText.ts';

/** Under which the operations of batches are known. */
export const BATCH = 'batch';

interface BatchIdentity {
  readonly tenant_id: string;
  readonly idempotency_key: string;
  /** Counts reuses after the time of replays. */
  readonly generation: number;
}

/** The same request always names the same batch. */
export const batchIdFor = ({ tenant_id, idempotency_key, generation }: BatchIdentity): string =>
  `bat_${digestText(['batch', tenant_id, idempotency_key, String(generation)].join('\u001f'))}`;

interface BatchDocument {
  readonly tenant_id: string;
  readonly batch_id: string;
  /** Its place in the list, from 0. */
  readonly index: number;
}

/** By which identity a document of a batch is accepted: however often that is tried, it is one operation. */
export const requestOfDocument = ({ batch_id, index }: Omit<BatchDocument, 'tenant_id'>) => ({
  endpoint: BATCH,
  idempotency_key: `${batch_id}-${String(index)}`,
});

export const operationIdOfDocument = ({ tenant_id, ...document }: BatchDocument): string =>
  operationIdFor({ tenant_id, ...requestOfDocument(document), generation: 0 });
