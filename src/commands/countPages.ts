import type { DocumentRegistered } from '../../domain/document/events.ts';
import { fileUriOf } from '../../domain/document/uploads.ts';
import type { DocumentParser } from '../../domain/ports/documentParser.ts';
import { metaOf, type BillingDeps, type Caller } from './billedWork.ts';
import type { Documents } from './documents.ts';
import {
  documentNamedIn,
  type FetchedUpload,
  type UploadReader,
  type UploadReference,
  type Uploads,
} from './uploads.ts';
import { workProblem, type WorkProblem } from './workProblem.ts';

export interface CountPagesDeps extends Pick<BillingDeps, 'clock'> {
  readonly documents: Documents;
  readonly uploads: Uploads;
  readonly parser: Pick<DocumentParser, 'inspect'>;
  /** Most pages of one call. */
  readonly pagesMax: number;
  readonly inspectDeadlineMs: number;
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote: (tenantId: string, position: bigint) => void;
}

export interface CountRequest {
  readonly by: UploadReader;
  readonly caller: Caller;
  readonly correlation_id: string;
  readonly documents: readonly UploadReference[];
  readonly signal: AbortSignal;
}

/** How many pages a document bills, or why that is not known. */
export interface PageCount {
  /** As it was asked for, where the document is not known. */
  readonly document_id: string | null;
  /** null for a document that came with a request. */
  readonly file_uri: string | null;
  readonly status: 'ok' | 'not_found' | 'not_uploaded' | 'unsupported';
  /** Also said of a document that has too many pages for one call. */
  readonly pages: number | null;
  readonly mime_type: string | null;
}

type Counted = Pick<PageCount, 'status' | 'pages' | 'mime_type'>;

/** Documents that are fetched and counted at the same time. */
const AT_ONCE = 4;

const NOT_FOUND: Counted = { status: 'not_found', pages: null, mime_type: null };
const NOT_UPLOADED: Counted = { status: 'not_uploaded', pages: null, mime_type: null };
const unsupported = (pages: number | null): Counted => ({ status: 'unsupported', pages, mime_type: null });

/** Nobody waits for the answer any more. */
class Aborted extends Error {
  override readonly name = 'Aborted';
}

const registrationOf = (
  { document, file }: FetchedUpload,
  measured: Pick<DocumentRegistered['data'], 'mime_type' | 'pages' | 'created_at'>,
): DocumentRegistered => ({
  type: 'DocumentRegistered',
  data: {
    document_id: document.document_id,
    tenant_id: document.tenant_id,
    project_id: document.project_id,
    task_id: document.task_id,
    file_name: file.file_name,
    bytes: file.bytes,
    sha256: file.sha256,
    source: 'upload',
    ...measured,
  },
});

/** Counted once, as it is billed; the count of a document that was used stands. */
const inspected = async (
  deps: CountPagesDeps,
  { caller, correlation_id, signal }: CountRequest,
  fetched: FetchedUpload,
): Promise<Counted> => {
  if (fetched.document.kind === 'dataset') return unsupported(null);
  const { pagesMax, inspectDeadlineMs: deadlineMs } = deps;
  const { path, file_name: fileName } = fetched.file;
  const found = await deps.parser.inspect({ path, fileName, effort: 'fast', pagesMax, deadlineMs, signal });
  if (found.kind === 'aborted') throw new Aborted('the caller went away');
  if (found.kind !== 'ok') return unsupported(found.kind === 'too_many_pages' ? found.pages : null);
  const meta = metaOf(deps, caller, correlation_id);
  const measured = { mime_type: found.mimeType, pages: found.pages, created_at: meta.now };
  const outcome = await deps.documents.record(registrationOf(fetched, measured), meta);
  if (outcome.kind === 'done' && outcome.position !== undefined)
    deps.wrote(fetched.document.tenant_id, outcome.position);
  return { status: 'ok', pages: found.pages, mime_type: found.mimeType };
};

const fetchedAndCounted = async (
  deps: CountPagesDeps,
  request: CountRequest,
  document_id: string,
): Promise<Counted> => {
  const fetched = await deps.uploads.fetch(request.by, { document_id });
  if (fetched.kind === 'problem') {
    if (fetched.code === 'missing_file') return NOT_UPLOADED;
    return fetched.code === 'document_not_found' ? NOT_FOUND : unsupported(null);
  }
  try {
    return await inspected(deps, request, fetched);
  } finally {
    await fetched.file.discard();
  }
};

const unknownOf = (reference: UploadReference, document_id: string | undefined): PageCount => ({
  document_id: document_id ?? reference.document_id ?? null,
  file_uri: reference.file_uri ?? null,
  ...NOT_FOUND,
});

const countOne = async (
  deps: CountPagesDeps,
  request: CountRequest,
  reference: UploadReference,
): Promise<PageCount> => {
  const document_id = documentNamedIn(reference);
  const unknown = unknownOf(reference, document_id);
  if (document_id === undefined) return unknown;
  const { presigned, registered } = await deps.documents.stateOf(document_id);
  const owner = (presigned ?? registered)?.tenant_id;
  if (owner === undefined || !(request.by.allTenants || owner === request.by.tenant_id)) return unknown;
  const file_uri = presigned === null ? null : fileUriOf(document_id);
  if (registered !== null) {
    const { pages, mime_type } = registered;
    return { document_id, file_uri, status: 'ok', pages, mime_type };
  }
  return { document_id, file_uri, ...(await fetchedAndCounted(deps, request, document_id)) };
};

/**
 * Counts the pages of documents as they would be billed, a few at a time and each once, in the order in
 * which they were named. A document that is counted for the first time is registered.
 */
export const countPages =
  (deps: CountPagesDeps) =>
  async (request: CountRequest): Promise<readonly PageCount[] | WorkProblem> => {
    const counts = new Map<string, PageCount>();
    const nameOf = (reference: UploadReference) =>
      JSON.stringify([reference.document_id, reference.file_uri]);
    const waiting = new Map(request.documents.map((reference) => [nameOf(reference), reference])).entries();
    const work = async () => {
      for (const [name, reference] of waiting) counts.set(name, await countOne(deps, request, reference));
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    } catch (error) {
      if (!(error instanceof Aborted)) throw error;
      return workProblem('request_aborted', 'The caller went away before the pages were counted.');
    }
    return request.documents.flatMap((reference) => counts.get(nameOf(reference)) ?? []);
  };
