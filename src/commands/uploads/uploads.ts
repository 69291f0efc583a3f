import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  documentIdIn,
  type DocumentState,
  isDocumentId,
  uploadKeyOf,
  type UploadPresigned,
} from '../../../domain/document.ts';
import type { ObjectStore } from '../../../domain/ports/services.ts';
import type { ReceivedFile } from '../work/work.ts';
import type { Documents } from './documents.ts';
import { fileTooLarge, workProblem, type WorkProblem } from '../work/workProblem.ts';
import { digestFile, TooManyBytes, writeDigested, type DigestedFile } from './writeDigested.ts';

interface UploadsDeps {
  readonly documents: Documents;
  readonly objects: ObjectStore;
  /** A folder that exists; files in it are named at random. */
  readonly uploadDir: string;
  /** Most bytes of one file. */
  readonly bytesMax: number;
}

/** Whose uploads a caller may use. */
export interface UploadReader {
  readonly tenant_id: string;
  /** True for service and admin keys. */
  readonly allTenants: boolean;
}

/** One of the two, or both of the same document. */
export interface UploadReference {
  readonly file_uri?: string | undefined;
  readonly document_id?: string | undefined;
}

/** What was said of a document when its upload was asked for. */
type UploadedDocument = Pick<
  UploadPresigned['data'],
  'document_id' | 'tenant_id' | 'project_id' | 'task_id' | 'file_name' | 'kind' | 'dataset_id'
>;

export interface FetchedUpload {
  readonly kind: 'ok';
  /** `discard` removes the local file; the object stays. */
  readonly file: ReceivedFile & { readonly discard: () => Promise<void> };
  readonly document: UploadedDocument;
}

/** Files that clients sent to storage before they name them in a request. */
export interface Uploads {
  /**
   * Brings an uploaded file to the local disk. `document_not_found`: another tenant's, never presigned,
   * not a URI of ours, or removed; `missing_file`: not uploaded yet; `file_too_large`: its object is removed;
   * `version_conflict`: the object was replaced after it had been used. Throws when storage fails.
   */
  readonly fetch: (by: UploadReader, reference: UploadReference) => Promise<FetchedUpload | WorkProblem>;
}

/** The document that a reference names; undefined when it names none, or two. */
export const documentNamedIn = ({ file_uri, document_id }: UploadReference): string | undefined => {
  const ofUri = file_uri === undefined ? undefined : documentIdIn(file_uri);
  if (document_id === undefined) return ofUri;
  if (!isDocumentId(document_id)) return undefined;
  return file_uri === undefined || ofUri === document_id ? document_id : undefined;
};

const notFound = (): WorkProblem =>
  workProblem(
    'document_not_found',
    'There is no such document of this tenant. Use the file_uri or document_id that POST /v1/uploads/presign gave.',
  );

/** Its file was removed; its bill and its citations stay. */
const notKept = (): WorkProblem =>
  workProblem(
    'document_not_found',
    'This document came with a request, and its file is not kept. To use a document again, ' +
      'upload it by POST /v1/uploads/presign and name it by its file_uri or document_id.',
  );

const gone = (): WorkProblem =>
  workProblem(
    'document_not_found',
    'The upload of this document was removed. To use the file again, upload it by POST /v1/uploads/presign.',
  );

const notUploaded = (): WorkProblem =>
  workProblem('missing_file', 'The file has not been uploaded. Send it with PUT to its upload_url first.');

const replaced = (): WorkProblem =>
  workProblem(
    'version_conflict',
    'Another file was uploaded in place of the one that was used first. Upload it as a document of its own.',
  );

/** Where the object lies on this disk it is read in place; else it is streamed to a file. */
const placed = async (
  { objects, bytesMax }: UploadsDeps,
  key: string,
  path: string,
): Promise<DigestedFile | 'missing'> => {
  if (objects.link !== undefined)
    return (await objects.link(key, path)) ? digestFile(path, bytesMax) : 'missing';
  const stream = await objects.open(key);
  return stream === undefined ? 'missing' : writeDigested(stream, path, bytesMax);
};

/** Brings the object to the disk; a file that is refused leaves nothing behind. */
const bring = async (
  deps: UploadsDeps,
  documentId: string,
): Promise<DigestedFile | 'missing' | 'too_large'> => {
  const path = join(deps.uploadDir, `fetched-${randomUUID()}`);
  try {
    return await placed(deps, uploadKeyOf(documentId), path);
  } catch (error) {
    await rm(path, { force: true });
    if (error instanceof TooManyBytes) return 'too_large';
    throw error;
  }
};

const fetchOf = async (
  deps: UploadsDeps,
  { presigned, registered }: { presigned: UploadPresigned['data'] } & Pick<DocumentState, 'registered'>,
): Promise<FetchedUpload | WorkProblem> => {
  const { document_id, tenant_id, project_id, task_id, file_name, kind, dataset_id } = presigned;
  const file = await bring(deps, document_id);
  if (file === 'missing') return notUploaded();
  if (file === 'too_large') {
    if (registered === null) await deps.objects.remove(uploadKeyOf(document_id));
    return fileTooLarge(deps.bytesMax);
  }
  const discard = () => rm(file.path, { force: true });
  if (registered !== null && registered.sha256 !== file.sha256) {
    await discard();
    return replaced();
  }
  return {
    kind: 'ok',
    file: { ...file, file_name, discard },
    document: { document_id, tenant_id, project_id, task_id, file_name, kind, dataset_id },
  };
};

/** A document that was presigned, and what became of it. */
export type OwnUpload = DocumentState & { readonly kind: 'ok'; readonly presigned: UploadPresigned['data'] };

/** The upload that `by` names: `document_not_found` for another tenant's, and for what never was an upload. */
export const ownUpload = async (
  documents: Pick<Documents, 'stateOf'>,
  by: UploadReader,
  documentId: string | undefined,
): Promise<OwnUpload | WorkProblem> => {
  if (documentId === undefined) return notFound();
  const { presigned, registered, removed } = await documents.stateOf(documentId);
  const isTheirs = by.allTenants || (presigned ?? registered)?.tenant_id === by.tenant_id;
  if (presigned === null) return registered !== null && isTheirs ? notKept() : notFound();
  return isTheirs ? { kind: 'ok', presigned, registered, removed } : notFound();
};

export const uploads = (deps: UploadsDeps): Uploads => ({
  fetch: async (by, reference) => {
    const own = await ownUpload(deps.documents, by, documentNamedIn(reference));
    if (own.kind === 'problem') return own;
    return own.removed === null ? fetchOf(deps, own) : gone();
  },
});
