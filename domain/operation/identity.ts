import { digestText } from '../queue/digestText.ts';

/** What a caller gave a request to be known by. `generation` counts reuses after the time of replays. */
interface OperationIdentity {
  readonly tenant_id: string;
  readonly endpoint: string;
  readonly idempotency_key: string;
  readonly generation: number;
}

/** The same request always names the same operation, so whatever died between two steps is found again. */
export const operationIdFor = ({
  tenant_id,
  endpoint,
  idempotency_key,
  generation,
}: OperationIdentity): string =>
  `op_${digestText(['operation', tenant_id, endpoint, idempotency_key, String(generation)].join('\u001f'))}`;

const suffixOf = (operationId: string): string => operationId.replace(/^op_/, '');

/** The hold that is placed when it is accepted. */
export const holdIdOfOperation = (operationId: string): string => `hold_${operationId}`;
/** The one that takes its place where an own key was never used. */
export const fullHoldIdOfOperation = (operationId: string): string => `hold_${operationId}_full`;
export const usageIdOfOperation = (operationId: string): string => `use_${suffixOf(operationId)}`;
/** The document, where it came with the request. */
export const documentIdOfOperation = (operationId: string): string => `doc_${suffixOf(operationId)}`;
/** The extraction or conversion that it is. */
export const workIdOfOperation = (operationId: string, prefix: 'ext' | 'cnv'): string =>
  `${prefix}_${suffixOf(operationId)}`;
