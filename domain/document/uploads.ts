/** How uploads are named: one ID in the forms that callers and stores see. */

const DOCUMENT_ID = /^doc_[A-Za-z0-9-]{1,64}$/;
const DATASET_ID = /^ds_[A-Za-z0-9-]{1,64}$/;
const FILE_URI = 'quire://uploads/';

/** Where uploads lie in object storage. */
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
