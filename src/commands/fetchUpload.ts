import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { DocumentSource, ObjectStore, SourceAddress } from '../../domain/ports/services.ts';
import type { ExampleSource } from '../../domain/ports/trainer.ts';
import type { BytesInFlight } from './slots.ts';
import type { KnownDocument, ReceivedFile } from './work.ts';
import { fileTooLarge, misfit, tooMuchInFlight, workProblem, type WorkProblem } from './workProblem.ts';
import { type DigestedFile, digestFile, type Documents, TooManyBytes, writeDigested } from './uploads.ts';
import {
  documentIdIn,
  type DocumentState,
  isDocumentId,
  uploadKeyOf,
  type UploadPresigned,
} from '../../domain/document.ts';

export interface SourceDeps {
  /** undefined where this installation fetches nothing. */
  readonly source: DocumentSource | undefined;
  /** Whether a caller may make us connect to it, and where that leads. */
  readonly checkSource: (
    url: string,
  ) => Promise<
    ({ readonly kind: 'ok' } & SourceAddress) | { readonly kind: 'unsafe'; readonly detail: string }
  >;
  /** A folder that exists; files in it are named at random. */
  readonly dir: string;
  readonly bytesMax: number;
  readonly inFlight: BytesInFlight;
}

/** Where a document is to be fetched from, for whom, and where the request says so. */
interface SourceRequest {
  readonly source_url: string;
  readonly at: readonly string[];
  readonly tenant_id: string;
  readonly signal: AbortSignal;
}

/** Most time that a document may take to come, ms: fifty megabytes by a line of seven megabits. */
const FETCH_MS = 60_000;
const FILE_NAME_MAX = 255;

const off = (at: readonly string[]): WorkProblem =>
  misfit(at, 'This installation fetches no documents from elsewhere: send the file itself.');

const unavailable = (detail: string, source_status: number | null): WorkProblem =>
  workProblem('source_unavailable', detail, { source_status });

/** The last part of the path: a hint, never trusted. */
const nameIn = ({ pathname }: URL): string | null => {
  const last = pathname.split('/').at(-1) ?? '';
  try {
    const name = decodeURIComponent(last).replace(/[\u0000-\u001f\u007f/\\]/g, '');
    return name === '' ? null : name.slice(0, FILE_NAME_MAX);
  } catch {
    return null;
  }
};

const fetched = async (
  { source, bytesMax, dir }: SourceDeps & { readonly source: DocumentSource },
  address: SourceAddress,
  signal: AbortSignal,
): Promise<ReceivedFile | WorkProblem> => {
  const path = join(dir, `source-${randomUUID()}`);
  try {
    const answer = await source.open(address, signal);
    if (answer.kind === 'unavailable') return unavailable(answer.detail, answer.status);
    if ((answer.length ?? 0) > bytesMax) return fileTooLarge(bytesMax);
    const file = await writeDigested(answer.bytes, path, bytesMax);
    if (file.bytes === 0) throw new EmptySource('nothing came');
    return { ...file, file_name: nameIn(address.url) };
  } catch (error) {
    await rm(path, { force: true });
    if (error instanceof TooManyBytes) return fileTooLarge(bytesMax);
    if (error instanceof EmptySource)
      return workProblem('empty_file', 'The document at source_url is empty.');
    return unavailable('The document at source_url did not come whole, or took too long.', null);
  }
};

class EmptySource extends Error {
  override readonly name = 'EmptySource';
}

/**
 * Brings a document that lies elsewhere to this machine, within the bytes that a tenant may have on their way, and
 * does work on it. A caller that leaves ends the transfer.
 */
export const withSource = async <T>(
  deps: SourceDeps,
  { source_url, at, tenant_id, signal: caller }: SourceRequest,
  work: (file: ReceivedFile) => Promise<T>,
): Promise<T | WorkProblem> => {
  const { source, inFlight, bytesMax } = deps;
  if (source === undefined) return off(at);
  const address = await deps.checkSource(source_url);
  if (address.kind === 'unsafe') return workProblem('unsafe_source_url', address.detail);
  const arrived = inFlight.take(tenant_id, bytesMax);
  if (arrived === undefined) return tooMuchInFlight(inFlight.max);
  try {
    // A document that is refused by its length is not read: the connection ends with the request.
    const done = new AbortController();
    const signal = AbortSignal.any([caller, AbortSignal.timeout(FETCH_MS), done.signal]);
    const file = await fetched({ ...deps, source }, address, signal).finally(() => done.abort());
    if ('kind' in file) return file;
    try {
      return await work(file);
    } finally {
      await rm(file.path, { force: true });
    }
  } finally {
    arrived();
  }
};

/** The document of some work, and where the work is booked. */
export interface WorkSubject {
  readonly file: ReceivedFile;
  /** Left out: a new document. */
  readonly document?: KnownDocument;
  readonly project_id: string;
  readonly task_id: string;
  /** As in `WorkRequest`. */
  readonly gone?: WorkProblem;
}

/** A document that was presigned and uploaded, by one of its references, and where work on it is booked. */
export interface FetchRequest extends Pick<WorkSubject, 'project_id' | 'task_id'> {
  readonly tenant_id: string;
  readonly file_uri?: string | undefined;
  readonly document_id?: string | undefined;
  /** Instead of the name that it was presigned with. */
  readonly file_name?: string | undefined;
  readonly source: KnownDocument['source'];
}

/** Does work on a document's file, which lies on the local disk while it runs. */
export const withFetched = async <T>(
  uploads: Uploads,
  { tenant_id, file_uri, document_id, file_name, source, project_id, task_id }: FetchRequest,
  work: (subject: WorkSubject) => Promise<T>,
): Promise<T | WorkProblem> => {
  const fetched = await uploads.fetch({ tenant_id, allTenants: false }, { file_uri, document_id });
  if (fetched.kind === 'problem') return fetched;
  const { file, document } = fetched;
  try {
    return await work({
      file: { ...file, file_name: file_name ?? document.file_name },
      document: { document_id: document.document_id, source },
      project_id,
      task_id,
    });
  } finally {
    await file.discard();
  }
};

/** Files on their way from storage to work. */
interface LocalFiles {
  /** Brings the object to the disk; a file that is refused leaves nothing behind. */
  readonly bring: (documentId: string) => Promise<DigestedFile | 'missing' | 'too_large'>;
  readonly discard: (path: string) => Promise<void>;
}

interface DiskDeps {
  readonly objects: ObjectStore;
  /** A folder that exists; files in it are named at random. */
  readonly uploadDir: string;
  /** Most bytes of one file. */
  readonly bytesMax: number;
}

/** The file of an upload, as it was sent; in the terms of `Uploads` where there is none. */
export const openUpload =
  ({ documents, objects }: { readonly documents: Documents; readonly objects: Pick<ObjectStore, 'open'> }) =>
  async (
    by: UploadReader,
    documentId: string,
  ): Promise<{ readonly kind: 'ok'; readonly bytes: AsyncIterable<Uint8Array> } | WorkProblem> => {
    const own = await ownUpload(documents, by, documentNamedIn({ document_id: documentId }));
    if (own.kind === 'problem') return own;
    const bytes = own.removed === null ? await objects.open(uploadKeyOf(documentId)) : undefined;
    if (bytes !== undefined) return { kind: 'ok', bytes };
    return own.removed === null && own.registered === null ? notUploaded() : gone();
  };

interface UploadsDeps extends Pick<DiskDeps, 'bytesMax'> {
  readonly documents: Documents;
  readonly objects: Pick<ObjectStore, 'remove'>;
  readonly files: LocalFiles;
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

/** Details of a document from the request for its upload. */
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
  { objects, bytesMax }: DiskDeps,
  key: string,
  path: string,
): Promise<DigestedFile | 'missing'> => {
  if (objects.link !== undefined)
    return (await objects.link(key, path)) ? digestFile(path, bytesMax) : 'missing';
  const stream = await objects.open(key);
  return stream === undefined ? 'missing' : writeDigested(stream, path, bytesMax);
};

/** Files of uploads on this machine's disk. */
export const filesOnDisk = (deps: DiskDeps): LocalFiles => ({
  bring: async (documentId) => {
    const path = join(deps.uploadDir, `fetched-${randomUUID()}`);
    try {
      return await placed(deps, uploadKeyOf(documentId), path);
    } catch (error) {
      await rm(path, { force: true });
      if (error instanceof TooManyBytes) return 'too_large';
      throw error;
    }
  },
  discard: (path) => rm(path, { force: true }),
});

const fetchOf = async (
  deps: UploadsDeps,
  { presigned, registered }: { presigned: UploadPresigned['data'] } & Pick<DocumentState, 'registered'>,
): Promise<FetchedUpload | WorkProblem> => {
  const { document_id, tenant_id, project_id, task_id, file_name, kind, dataset_id } = presigned;
  const file = await deps.files.bring(document_id);
  if (file === 'missing') return notUploaded();
  if (file === 'too_large') {
    if (registered === null) await deps.objects.remove(uploadKeyOf(document_id));
    return fileTooLarge(deps.bytesMax);
  }
  const discard = () => deps.files.discard(file.path);
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

/** A file that came with a request, and where it lies. */
export interface RequestFile {
  readonly document_id: string;
  readonly key: string;
}

type KeepDeps = DiskDeps & {
  readonly documents: Documents;
  readonly wrote: (tenantId: string, position: bigint) => void;
};

const uploadOf = (
  { source: _, pages: __, sha256: ___, mime_type, ...document }: NonNullable<DocumentState['registered']>,
  now: string,
): UploadPresigned['data'] => ({
  ...document,
  content_type: mime_type,
  kind: 'document',
  dataset_id: null,
  expires_at: now,
  created_at: now,
});

/**
 * Makes the file that came with a request an upload of the same document, so that it can be read again. False: it is
 * no longer kept, or was removed or erased. What a crash leaves in storage is completed by the repeat.
 */
export const keepRequestFile =
  (deps: KeepDeps) =>
  async ({ document_id, key }: RequestFile, meta: CommandMeta): Promise<boolean> => {
    const { documents, objects, uploadDir } = deps;
    const { presigned, registered, removed, erased } = await documents.stateOf(document_id);
    if (registered === null || removed !== null || erased !== null) return false;
    if (presigned !== null) return true;
    const path = join(uploadDir, `kept-${randomUUID()}`);
    try {
      if ((await placed(deps, key, path)) === 'missing') return false;
      await objects.putFile(uploadKeyOf(document_id), path);
    } finally {
      await rm(path, { force: true });
    }
    const data = uploadOf(registered, meta.now);
    const outcome = await documents.record({ type: 'UploadPresigned', data }, meta);
    if (outcome.kind === 'done' && outcome.position !== undefined)
      deps.wrote(data.tenant_id, outcome.position);
    if (outcome.kind !== 'done' || outcome.state.erased === null) return outcome.kind === 'done';
    // It was erased meanwhile, and all that lay there then.
    await objects.remove(uploadKeyOf(document_id));
    return false;
  };

/** A document that was presigned, and what became of it. */
export type OwnUpload = DocumentState & { readonly kind: 'ok'; readonly presigned: UploadPresigned['data'] };

/** The upload that `by` names: `document_not_found` for another tenant's, and for what never was an upload. */
export const ownUpload = async (
  documents: Pick<Documents, 'stateOf'>,
  by: UploadReader,
  documentId: string | undefined,
): Promise<OwnUpload | WorkProblem> => {
  const own = await ownDocument(documents, by, documentId);
  if (own.kind === 'problem') return own;
  const { presigned, ...rest } = own;
  return presigned === null ? notKept() : { ...rest, presigned };
};

/** A document that was used or presigned: `document_not_found` for another tenant's, and for none at all. */
export const ownDocument = async (
  documents: Pick<Documents, 'stateOf'>,
  by: UploadReader,
  documentId: string | undefined,
): Promise<(DocumentState & { readonly kind: 'ok'; readonly tenant_id: string }) | WorkProblem> => {
  const state = documentId === undefined ? undefined : await documents.stateOf(documentId);
  const tenant_id = (state?.presigned ?? state?.registered)?.tenant_id;
  if (state === undefined || tenant_id === undefined) return notFound();
  return by.allTenants || tenant_id === by.tenant_id ? { ...state, kind: 'ok', tenant_id } : notFound();
};

export const uploads = (deps: UploadsDeps): Uploads => ({
  fetch: async (by, reference) => {
    const own = await ownUpload(deps.documents, by, documentNamedIn(reference));
    if (own.kind === 'problem') return own;
    return own.removed === null ? fetchOf(deps, own) : gone();
  },
});

/** Documents of examples, from where clients uploaded them to. */
export const uploadedExamples = (uploads: Uploads): ExampleSource => ({
  fetch: async (tenant_id, document_id) => {
    const fetched = await uploads.fetch({ tenant_id, allTenants: false }, { document_id });
    return fetched.kind === 'problem' ? fetched : { kind: 'ok', file: fetched.file };
  },
});
