import { digestText } from '../queue/digestText.ts';
import { suffixOf } from '../queue/identity.ts';

/** What a caller gave a request to be known by. `generation` counts reuses after the time of replays. */
interface OperationIdentity {
  readonly tenant_id: string;
  /** The kind of work, by its name in URLs: whichever route a request takes, it is the same operation. */
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

export const usageIdOfOperation = (operationId: string): string => `use_${suffixOf(operationId)}`;
/** The document, where it came with the request. */
export const documentIdOfOperation = (operationId: string): string => `doc_${suffixOf(operationId)}`;
/** The extraction or conversion that it is. */
export const workIdOfOperation = (operationId: string, prefix: 'ext' | 'cnv'): string =>
  `${prefix}_${suffixOf(operationId)}`;
/** Of logs of older releases: the hold that took the first one's place where an own key was never used. */
export const fullHoldIdOfOperation = (operationId: string): string => `hold_${operationId}_full`;
