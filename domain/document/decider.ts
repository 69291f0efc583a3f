import { accept, type Decider, type Decision, type StreamKind } from '../kernel/decider.ts';
import type { RecordCommand } from '../kernel/recorder.ts';
import type { DocumentEvent, DocumentRegistered, UploadPresigned, UploadRemoved } from './events.ts';

/** What is known of a document. */
export interface DocumentState {
  /** null for a document that came with a request. */
  readonly presigned: UploadPresigned['data'] | null;
  /** null until it is used or counted for the first time. */
  readonly registered: DocumentRegistered['data'] | null;
  /** null while its file is kept, or may still be sent. */
  readonly removed: UploadRemoved['data'] | null;
}

export type DocumentKind = StreamKind<DocumentState, RecordCommand<DocumentEvent>, DocumentEvent, never>;

const decide = (
  { presigned, registered, removed }: DocumentState,
  { data }: RecordCommand<DocumentEvent>,
): Decision<DocumentEvent, never> => {
  switch (data.type) {
    case 'UploadPresigned':
      return presigned === null && registered === null ? accept(data) : accept<DocumentEvent>();
    case 'DocumentRegistered': {
      if (registered !== null) return accept<DocumentEvent>();
      // Work that had the file when it was removed: readers learn again that nothing is kept of it.
      return removed === null
        ? accept(data)
        : accept<DocumentEvent>(data, { type: 'UploadRemoved', data: removed });
    }
    case 'UploadRemoved':
      return presigned !== null && removed === null ? accept(data) : accept<DocumentEvent>();
  }
};

/**
 * A document is presigned at most once and before anything else, registered at most once, so it is measured
 * by its first use, and the file of one that was presigned is removed at most once.
 */
export const document: Decider<DocumentKind> = {
  initialState: { presigned: null, registered: null, removed: null },
  decide,
  evolve: (state, { type, data }) => {
    switch (type) {
      case 'UploadPresigned':
        return { ...state, presigned: data };
      case 'DocumentRegistered':
        return { ...state, registered: data };
      case 'UploadRemoved':
        return { ...state, removed: data };
    }
  },
};
