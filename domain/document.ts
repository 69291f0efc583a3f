import { ratedOperation } from './account/messages.ts';
import { z } from 'zod';
import {
  accept,
  type Decider,
  type Decision,
  event,
  type Command,
  type StreamKind,
} from './kernel/decider.ts';
import { instant, pages, tenantId } from './kernel/amounts.ts';

/**
 * A document that a client may upload until `expires_at`, or one that came with a request and whose file is kept as an
 * upload from then on. A dataset has an ID of its own too.
 */
const uploadPresigned = event('UploadPresigned', {
  document_id: z.string(),
  tenant_id: tenantId,
  project_id: z.string(),
  task_id: z.string(),
  file_name: z.string().nullable(),
  content_type: z.string().nullable(),
  /** As the client said; null: not said. */
  bytes: z.number().int().min(0).nullable(),
  kind: z.enum(['document', 'dataset']),
  dataset_id: z.string().nullable(),
  expires_at: instant,
  created_at: instant,
});

export type UploadPresigned = z.output<typeof uploadPresigned>;

/** A document that the service has seen. No content, only what identifies and measures it. */
const documentRegistered = event('DocumentRegistered', {
  document_id: z.string(),
  tenant_id: tenantId,
  project_id: z.string(),
  task_id: z.string(),
  file_name: z.string().nullable(),
  mime_type: z.string(),
  bytes: z.number().int().min(0),
  pages,
  sha256: z.string(),
  source: z.enum([...ratedOperation.options, 'upload', 'canonical', 'training']),
  created_at: instant,
});

export type DocumentRegistered = z.output<typeof documentRegistered>;

/** The file of an upload is gone from storage, or about to be. What was billed for the document stays. */
const uploadRemoved = event('UploadRemoved', {
  document_id: z.string(),
  tenant_id: tenantId,
  /** Asked for by a caller, or kept for as long as uploads are: unused ones for a day. */
  reason: z.enum(['asked', 'retention']),
  removed_at: instant,
});

type UploadRemoved = z.output<typeof uploadRemoved>;

/** The document's content is erased: file, results, examples made of it, name. Its bill stays. */
const documentErased = event('DocumentErased', {
  document_id: z.string(),
  tenant_id: tenantId,
  erased_at: instant,
});

type DocumentErased = z.output<typeof documentErased>;

export const documentEvent = z.discriminatedUnion('type', [
  uploadPresigned,
  documentRegistered,
  uploadRemoved,
  documentErased,
]);

export type DocumentEvent = z.output<typeof documentEvent>;

/** What is known of a document. */
export interface DocumentState {
  /** null for a document that came with a request, until its file is kept as an upload. */
  readonly presigned: UploadPresigned['data'] | null;
  /** null until it is used or counted for the first time. */
  readonly registered: DocumentRegistered['data'] | null;
  /** null while its file is kept, or may still be sent. */
  readonly removed: UploadRemoved['data'] | null;
  /** null while anything that it says may be kept. */
  readonly erased: DocumentErased['data'] | null;
}

/** Writes down what happened; a removal also only where no work has used the document yet. */
export type DocumentCommand = Command<'Record' | 'RecordUnused', DocumentEvent>;

export type DocumentKind = StreamKind<DocumentState, DocumentCommand, DocumentEvent, never>;

/** Readers learn again, after a registration that came late, that nothing is kept. */
const goneAgain = ({ removed, erased }: DocumentState): readonly DocumentEvent[] => [
  ...(removed === null ? [] : [{ type: 'UploadRemoved' as const, data: removed }]),
  ...(erased === null ? [] : [{ type: 'DocumentErased' as const, data: erased }]),
];

const erase = (
  { presigned, registered, removed, erased }: DocumentState,
  event: DocumentErased,
): Decision<DocumentEvent, never> => {
  if ((presigned === null && registered === null) || erased !== null) return accept<DocumentEvent>();
  const { erased_at, ...names } = event.data;
  return presigned === null || removed !== null
    ? accept<DocumentEvent>(event)
    : accept<DocumentEvent>(
        { type: 'UploadRemoved', data: { ...names, reason: 'asked', removed_at: erased_at } },
        event,
      );
};

const register = (
  state: DocumentState,
  { type, data }: DocumentRegistered,
): Decision<DocumentEvent, never> => {
  if (state.registered !== null) return accept<DocumentEvent>();
  // Work that had the file when it was removed. Of what was erased the name is not written down again.
  const file_name = state.erased === null ? data.file_name : null;
  return accept<DocumentEvent>({ type, data: { ...data, file_name } }, ...goneAgain(state));
};

const isRemovable = (
  { presigned, registered, removed }: DocumentState,
  how: DocumentCommand['type'],
): boolean => presigned !== null && removed === null && (how === 'Record' || registered === null);

const decide = (state: DocumentState, { type, data }: DocumentCommand): Decision<DocumentEvent, never> => {
  const { presigned, erased } = state;
  switch (data.type) {
    case 'UploadPresigned':
      return presigned === null && erased === null ? accept(data) : accept<DocumentEvent>();
    case 'DocumentRegistered':
      return register(state, data);
    case 'UploadRemoved':
      return isRemovable(state, type) ? accept(data) : accept<DocumentEvent>();
    case 'DocumentErased':
      return erase(state, data);
  }
};

/**
 * A document is presigned at most once: before anything else, or after the request that it came with, if its file
 * is kept. It is registered at most once, so it is measured by its first use; the file of one that was presigned is
 * removed at most once, and each is erased at most once.
 */
export const document: Decider<DocumentKind> = {
  initialState: { presigned: null, registered: null, removed: null, erased: null },
  decide,
  evolve: (state, { type, data }) => {
    switch (type) {
      case 'UploadPresigned':
        return { ...state, presigned: data };
      case 'DocumentRegistered':
        return { ...state, registered: data };
      case 'UploadRemoved':
        return { ...state, removed: data };
      case 'DocumentErased':
        return { ...state, erased: data };
    }
  },
};

export const documentStream = (documentId: string): string => `document-${documentId}`;

// How uploads are named: one ID in the forms that callers and stores see.

const DOCUMENT_ID = /^doc_[A-Za-z0-9-]{1,64}$/;

const DATASET_ID = /^ds_[A-Za-z0-9-]{1,64}$/;

const FILE_URI = 'quire://uploads/';

/** Where uploads are in object storage. */
export const UPLOADS_PREFIX = 'uploads/';

export const isDocumentId = (text: string): boolean => DOCUMENT_ID.test(text);

/** The reference that callers get; opaque to them. */
export const fileUriOf = (documentId: string): string => `${FILE_URI}${documentId}`;

/** undefined for a URI that was not made here. */
export const documentIdIn = (fileUri: string): string | undefined => {
  if (!fileUri.startsWith(FILE_URI)) return undefined;
  const documentId = fileUri.slice(FILE_URI.length);
  return isDocumentId(documentId) ? documentId : undefined;
};

/** The object that holds a document's bytes. */
export const uploadKeyOf = (documentId: string): string => `${UPLOADS_PREFIX}${documentId}`;

/** undefined for the key of anything else. */
export const documentIdOfKey = (key: string): string | undefined => {
  const documentId = key.startsWith(UPLOADS_PREFIX) ? key.slice(UPLOADS_PREFIX.length) : '';
  return isDocumentId(documentId) ? documentId : undefined;
};

/** A dataset is a document of its own kind: both IDs share what follows the prefix. */
export const datasetIdOf = (documentId: string): string => documentId.replace(/^doc_/, 'ds_');

/** undefined for an ID of anything else. */
export const documentIdOfDataset = (datasetId: string): string | undefined =>
  DATASET_ID.test(datasetId) ? datasetId.replace(/^ds_/, 'doc_') : undefined;
