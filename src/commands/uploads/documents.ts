import { document, type DocumentKind } from '../../../domain/document/decider.ts';
import { documentEvent, documentStream, type DocumentEvent } from '../../../domain/document/events.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../../domain/kernel/command.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
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
