import { accept, type Decider, type StreamKind } from '../kernel/decider.ts';
import type { Record } from '../kernel/recorder.ts';
import type { DocumentEvent, DocumentRegistered, UploadPresigned } from './events.ts';

/** What is known of a document. */
export interface DocumentState {
  /** null for a document that came with a request. */
  readonly presigned: UploadPresigned['data'] | null;
  /** null until it is used or counted for the first time. */
  readonly registered: DocumentRegistered['data'] | null;
}

export type DocumentKind = StreamKind<DocumentState, Record<DocumentEvent>, DocumentEvent, never>;

/**
 * A document is presigned at most once and before anything else, and registered at most once: whatever
 * comes after that changes nothing, so a document is measured by its first use.
 */
export const document: Decider<DocumentKind> = {
  initialState: { presigned: null, registered: null },
  decide: ({ presigned, registered }, { data }) => {
    const isOver = data.type === 'UploadPresigned' && presigned !== null;
    return registered !== null || isOver ? accept<DocumentEvent>() : accept(data);
  },
  evolve: (state, { type, data }) => {
    switch (type) {
      case 'UploadPresigned':
        return { ...state, presigned: data };
      case 'DocumentRegistered':
        return { ...state, registered: data };
    }
  },
};
