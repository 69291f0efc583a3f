import { eventCodec } from '../../../domain/kernel/codec.ts';
import {
  operation,
  operationEvent,
  type OperationKind,
  operationStream,
  type OperationWork,
} from '../../../domain/operation.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import { streamsOf } from '../writer/streams.ts';

/** An operation, and whose it is. */
export type OperationName = OperationWork['identity'];

/** The streams of operations: the queue, and all there is to know of one but its result. */
export type Operations = ReturnType<typeof operations>;

const rules = { decider: operation, codec: eventCodec(operationEvent), streamOf: operationStream };

export const operations = (store: EventStore) => {
  const { handle, stateOf } = streamsOf<OperationKind>(rules, store);
  return {
    handle: ({ operation_id, tenant_id }: OperationName, command: OperationKind['command']) =>
      handle(operation_id, command, tenant_id),
    /** From the log; `accepted` is null for one that never was. */
    stateOf,
  };
};
