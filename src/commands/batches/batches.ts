import { batch, type BatchCommand, batchEvent, type BatchKind, batchStream } from '../../../domain/batch.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import { streamsOf } from '../writer/streams.ts';

/** A batch, and whose it is. */
export interface BatchName {
  readonly batch_id: string;
  readonly tenant_id: string;
}

/** The streams of batches: which documents may be begun, and which came to nothing. */
export type Batches = ReturnType<typeof batches>;

const rules = { decider: batch, codec: eventCodec(batchEvent), streamOf: batchStream };

export const batches = (store: EventStore) => {
  const { handle, stateOf } = streamsOf<BatchKind>(rules, store);
  return {
    handle: ({ batch_id, tenant_id }: BatchName, command: BatchCommand) =>
      handle(batch_id, command, tenant_id),
    /** From the log; `accepted` is null for one that never was. */
    stateOf,
  };
};
