import {
  document,
  documentEvent,
  type DocumentEvent,
  type DocumentKind,
  documentStream,
} from '../../../domain/document.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import type { HandlerOptions } from '../writer/commandHandler.ts';
import { streamsOf } from '../writer/streams.ts';

/** The streams of documents. */
export type Documents = ReturnType<typeof documents>;

const rules = { decider: document, codec: eventCodec(documentEvent), streamOf: documentStream };

export const documents = (store: EventStore, options?: HandlerOptions) => {
  const { handle, stateOf } = streamsOf<DocumentKind>(rules, store, options);
  return {
    record: (data: DocumentEvent, meta: CommandMeta) =>
      handle(data.data.document_id, { type: 'Record', data, meta }, data.data.tenant_id),
    /** From the log. */
    stateOf,
  };
};
