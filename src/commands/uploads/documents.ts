import { document, type DocumentState, type DocumentKind } from '../../../domain/document/decider.ts';
import { documentEvent, documentStream, type DocumentEvent } from '../../../domain/document/events.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../../domain/kernel/command.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import { commandHandler, type HandlerOptions } from '../writer/commandHandler.ts';
import type { Outcome } from '../writer/outcome.ts';
import { stateIn } from '../writer/streamFold.ts';

/** The streams of documents. */
export interface Documents {
  readonly record: (event: DocumentEvent, meta: CommandMeta) => Promise<Outcome<DocumentKind>>;
  /** From the log. */
  readonly stateOf: (documentId: string) => Promise<DocumentState>;
}

const codec = eventCodec(documentEvent);

export const documents = (store: EventStore, options: HandlerOptions = {}): Documents => {
  const handle = commandHandler({
    store,
    codec,
    options,
    decider: document,
    tenantOf: ({ data }: { readonly data: DocumentEvent }) => data.data.tenant_id,
  });
  return {
    record: (data, meta) => handle(documentStream(data.data.document_id), { type: 'Record', data, meta }),
    stateOf: (documentId) => stateIn(store, documentStream(documentId), { ...document, codec }),
  };
};
