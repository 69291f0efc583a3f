import { extname } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { DocumentParser, ParseFailure, ParseRequest } from '@quire/engine/ports/documentParser';
import { sha256 } from '../../domain/kernel/chain.ts';
import type { BillingDeps, Caller, ReceivedFile } from './work.ts';
import { type DocumentRegistered, fileUriOf } from '../../domain/document.ts';
import { metaOf } from '../writer/commandMeta.ts';
import type { Documents } from './uploads.ts';
import type { HeavySlots } from './slots.ts';
import {
  documentNamedIn,
  type FetchedUpload,
  type UploadReader,
  type UploadReference,
  type Uploads,
} from './fetchUpload.ts';
import { workProblem, type WorkProblem } from './workProblem.ts';

/** Failures of work that would fail again, by name, for a while. */
interface RecentFailures<Failure> {
  readonly find: (name: string) => Failure | undefined;
  readonly note: (name: string, failure: Failure) => void;
  /** The file has changed. */
  readonly forget: (name: string) => void;
}

const KEEP_MS = 60_000;
const ENTRIES_MAX = 10_000;

/** Remembers each for a minute, or as long as is said (ms); evicts the least used beyond ten thousand. */
export const recentFailures = <Failure>(nowMs: () => number, keepMs = KEEP_MS): RecentFailures<Failure> => {
  const failures = new LRUCache<string, { readonly failure: Failure; readonly untilMs: number }>({
    max: ENTRIES_MAX,
  });
  return {
    find: (name) => {
      const found = failures.get(name);
      if (found === undefined || found.untilMs > nowMs()) return found?.failure;
      failures.delete(name);
      return undefined;
    },
    note: (name, failure) => {
      failures.set(name, { failure, untilMs: nowMs() + keepMs });
    },
    forget: (name) => {
      failures.delete(name);
    },
  };
};

type TimedOut = Extract<ParseFailure, { readonly kind: 'timed_out' }>;

/**
 * Work that has had all its time, by the file's digest and what was asked of it: it would take the time again. Work
 * that a busy machine did not let do its part is not among it.
 */
export type Overruns = RecentFailures<TimedOut>;

/** What work does with a file; whatever may change how long it takes is named. */
interface FileWork {
  readonly file: Pick<ReceivedFile, 'sha256' | 'file_name'>;
  readonly what: 'inspect' | 'read' | 'render' | 'extract';
  readonly request: Pick<ParseRequest, 'effort' | 'pages' | 'deadlineMs'>;
  /** Of an extraction. */
  readonly schema?: object;
}

const nameOf = ({ file, what, request: { effort, pages, deadlineMs }, schema }: FileWork): string => {
  const ending = extname(file.file_name ?? '').toLowerCase();
  const asked = [
    what,
    effort,
    pages ?? '',
    String(deadlineMs),
    schema === undefined ? '' : JSON.stringify(schema),
  ];
  return sha256([file.sha256, ending, ...asked].join('\u001f'));
};

/** Does the work, unless its deadline ended the same a while ago. */
export const unlessOverrun = async <Answer extends { readonly kind: string }>(
  overruns: Overruns | undefined,
  named: FileWork,
  work: () => Promise<Answer | TimedOut>,
): Promise<Answer | TimedOut> => {
  const name = nameOf(named);
  const before = overruns?.find(name);
  if (before !== undefined) return before;
  const answer = await work();
  if (isTimedOut(answer)) overruns?.note(name, answer);
  return answer;
};

const isTimedOut = (answer: { readonly kind: string }): answer is TimedOut => answer.kind === 'timed_out';

export interface CountPagesDeps extends Pick<BillingDeps, 'clock'> {
  readonly documents: Documents;
  readonly uploads: Uploads;
  readonly parser: Pick<DocumentParser, 'inspect'>;
  /** A call that has to count anything takes one, whatever it is asked to count. */
  readonly slots: Pick<HeavySlots, 'take'>;
  /** Documents that could not be counted, by their ID. */
  readonly failures: RecentFailures<Counted>;
  readonly overruns?: Overruns | undefined;
  /** Documents that one call fetches and counts at the same time. Each has its file meanwhile. */
  readonly atOnce: number;
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

/** What is known of a document, by any reference. */
export type Counted = Pick<PageCount, 'status' | 'pages' | 'mime_type'>;

const NOT_FOUND: Counted = { status: 'not_found', pages: null, mime_type: null };
const NOT_UPLOADED: Counted = { status: 'not_uploaded', pages: null, mime_type: null };
const unsupported = (pages: number | null): Counted => ({ status: 'unsupported', pages, mime_type: null });

/** Nobody waits for the answer any more. */
class Aborted extends Error {
  override readonly name = 'Aborted';
}

/** There is no slot for the call now, or the machine did not get to its work. */
class Busy extends Error {
  override readonly name = 'Busy';
}

/** A call while it runs. */
interface Call {
  readonly request: CountRequest;
  /** Takes the call's one slot, unless it has it. Throws Busy. */
  readonly takeSlot: () => void;
}

/** A document of the call, and how it may be named in the answer. */
interface CountedDocument extends Counted {
  readonly document_id: string;
  readonly file_uri: string | null;
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
  const asked = { path, fileName, effort: 'fast', pagesMax, deadlineMs, signal } as const;
  const named = { file: fetched.file, what: 'inspect', request: asked } as const;
  const found = await unlessOverrun(deps.overruns, named, () =>
    deps.parser.inspect({ ...asked, share: fetched.document.tenant_id }),
  );
  if (found.kind === 'aborted') throw new Aborted('the caller went away');
  if (found.kind === 'starved') throw new Busy('the machine has too much to do');
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
  { request, takeSlot }: Call,
  document_id: string,
): Promise<Counted> => {
  const earlier = deps.failures.find(document_id);
  if (earlier !== undefined) return earlier;
  takeSlot();
  const fetched = await deps.uploads.fetch(request.by, { document_id });
  if (fetched.kind === 'problem') {
    if (fetched.code === 'missing_file') return NOT_UPLOADED;
    return fetched.code === 'document_not_found' ? NOT_FOUND : unsupported(null);
  }
  try {
    const counted = await inspected(deps, request, fetched);
    if (counted.status !== 'ok') deps.failures.note(document_id, counted);
    return counted;
  } finally {
    await fetched.file.discard();
  }
};

/** undefined for a document that is not known, another tenant's, or an upload that was removed. */
const countOne = async (
  deps: CountPagesDeps,
  call: Call,
  document_id: string,
): Promise<CountedDocument | undefined> => {
  const { by } = call.request;
  const { presigned, registered, removed } = await deps.documents.stateOf(document_id);
  const owner = (presigned ?? registered)?.tenant_id;
  if (removed !== null || owner === undefined || !(by.allTenants || owner === by.tenant_id)) return undefined;
  const file_uri = presigned === null ? null : fileUriOf(document_id);
  if (registered !== null) {
    const { pages, mime_type } = registered;
    return { document_id, file_uri, status: 'ok', pages, mime_type };
  }
  return { document_id, file_uri, ...(await fetchedAndCounted(deps, call, document_id)) };
};

const unknownOf = (reference: UploadReference): PageCount => ({
  document_id: documentNamedIn(reference) ?? reference.document_id ?? null,
  file_uri: reference.file_uri ?? null,
  ...NOT_FOUND,
});

type Counts = ReadonlyMap<string, CountedDocument | undefined>;

/** Each document once, whatever it is named by and however often. */
const countEach = async (deps: CountPagesDeps, call: Call): Promise<Counts> => {
  const counts = new Map<string, CountedDocument | undefined>();
  const named = call.request.documents.map(documentNamedIn).filter((id) => id !== undefined);
  const waiting = new Set(named).values();
  const work = async () => {
    for (const document_id of waiting) counts.set(document_id, await countOne(deps, call, document_id));
  };
  await Promise.all(Array.from({ length: deps.atOnce }, work));
  return counts;
};

const refusalOf = (error: unknown): WorkProblem => {
  if (error instanceof Busy)
    return workProblem(
      'busy',
      'The server is working on as many documents as it can. Try again in a moment: what was counted stays so.',
    );
  if (error instanceof Aborted)
    return workProblem('request_aborted', 'The caller went away before the pages were counted.');
  throw error;
};

/**
 * Counts the pages of documents as they would be billed, a few at a time and each once, in the order in
 * which they were named. A document that is counted for the first time is registered.
 */
export const countPages =
  (deps: CountPagesDeps) =>
  async (request: CountRequest): Promise<readonly PageCount[] | WorkProblem> => {
    let free: (() => void) | undefined;
    const takeSlot = () => {
      free ??= deps.slots.take(request.by.tenant_id);
      if (free === undefined) throw new Busy('there is no slot');
    };
    try {
      const counts = await countEach(deps, { request, takeSlot });
      return request.documents.map(
        (reference) => counts.get(documentNamedIn(reference) ?? '') ?? unknownOf(reference),
      );
    } catch (error) {
      return refusalOf(error);
    } finally {
      free?.();
    }
  };
