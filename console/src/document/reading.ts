import {
  isProblem,
  type CallOptions,
  type CanonicalEnvelope,
  type CanonicalInferenceExtract,
  type CanonicalInferenceToMarkdown,
  type ExtractionResult,
  type MarkdownResult,
  type Operation,
  type Progress,
} from '@quire/client';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { quire } from '../api/connection.ts';
import { sendUpload } from '../api/uploads.ts';
import { secondsLeft } from '../ui/period.ts';

/** Longer documents are read after the answer, so that their pages can be counted. */
const LONG_PAGES = 5;
/** Larger files are read after the answer, too. */
const LARGE_BYTES = 8 * 1024 * 1024;

/** How far a reading is. */
export interface Step {
  readonly kind: 'sending' | 'reading';
  readonly done: number;
  readonly total: number;
  /** Seconds until it is done, at the pace so far; undefined until a page was read. */
  readonly left?: number | undefined;
}

/** What is read, and for whom. */
export interface Asked {
  readonly file: File;
  readonly pages: number | undefined;
  readonly tenant_id: string;
}

/** Asked for a document's values. */
export interface AskedValues extends Asked {
  readonly schema: string;
  /** Left out: as the service reads where nothing is said. */
  readonly mode?: 'fast' | 'standard' | 'robust';
  /** `provider/model`, with the platform's key. */
  readonly model?: string;
  /** Which pages, such as `1-3,5`; left out: all. */
  readonly chosen?: string;
  /** A saved config; what is said here goes before it. */
  readonly config?: string;
}

/** Told where the work of a reading is found again. */
export interface Told {
  /** The ID of a run, or of its operation. */
  readonly run: (id: string) => void;
}

interface Running {
  readonly signal: AbortSignal;
  readonly tell: (step: Step) => void;
  readonly idempotencyKey: string;
  readonly told: Told | undefined;
  /** What is asked for next is new work: this is at its end, with or without a result. */
  readonly end: () => void;
}

/** The operation and payload of a request that names the file instead of holding it. */
type Envelope = Pick<CanonicalInferenceExtract | CanonicalInferenceToMarkdown, 'operation' | 'payload'>;

/** What a document is read for, as each of the requests for it. */
interface Way<Of extends Asked, Result> {
  /** The same document and the same text are the same work. */
  readonly textOf: (asked: Of) => string;
  readonly now: (asked: Of, options: CallOptions) => Promise<Result>;
  readonly envelope: (asked: Of) => Envelope;
  /** The run of a result. */
  readonly runOf: (result: Result) => string;
}

/** How it is read, where that is said. */
const wayOf = ({ mode, model, chosen, config }: AskedValues) => ({
  ...(mode === undefined ? {} : { mode }),
  ...(model === undefined ? {} : { llm_provider_model: model }),
  ...(chosen === undefined ? {} : { pages: chosen }),
  ...(config === undefined ? {} : { config_id: config }),
});

const formOf = (asked: AskedValues) => {
  const { file, schema, tenant_id } = asked;
  return { file, schema, tenant_id, allow_partial: true, ...wayOf(asked) };
};

/** For its values. */
export const VALUES: Way<AskedValues, ExtractionResult> = {
  textOf: (asked) => JSON.stringify([asked.schema, wayOf(asked)]),
  now: (asked, options) => quire.extract(formOf(asked), options),
  envelope: (asked) => ({
    operation: 'inference.extract',
    payload: {
      schema: JSON.parse(asked.schema) as Record<string, unknown>,
      allow_partial: true,
      ...wayOf(asked),
    },
  }),
  runOf: ({ meta }) => meta.extraction_id,
};

const include = 'blocks,proposed_schema';

/** For its markdown, with its blocks and the fields that it names itself. */
export const MARKDOWN: Way<Asked, MarkdownResult> = {
  textOf: () => '',
  now: ({ file, tenant_id }, options) => quire.toMarkdown({ file, tenant_id, include }, options),
  envelope: () => ({ operation: 'inference.to_markdown', payload: { include } }),
  runOf: ({ meta }) => meta.conversion_id,
};

const hasEnded = ({ status }: Operation): boolean => status !== 'queued' && status !== 'running';

/** Work that goes on after the answer, page by page; stopped, it is cancelled and costs nothing. */
const followed = async <Result>(operation: Operation, running: Running): Promise<Result> => {
  const { signal, tell, end, told } = running;
  told?.run(operation.operation_id);
  /** When it was first seen at work, and what was read by then. */
  let began: { readonly at: number; readonly done: number } | undefined;
  const onProgress = (state: Operation): void => {
    if (hasEnded(state)) end();
    const { done, total } = state.pages;
    if (state.status === 'running') began ??= { at: performance.now(), done };
    const { at, done: before } = began ?? { at: 0, done };
    const left = secondsLeft({ done: done - before, total: total - before, ms: performance.now() - at });
    tell({ kind: 'reading', done, total, left });
  };
  try {
    return await quire.operations.result<Result & object>(operation, { signal, onProgress });
  } catch (error) {
    if (signal.aborted) {
      end();
      // what ended meanwhile cannot be cancelled, and nobody looks any more
      await quire.operations.cancel(operation.operation_id).catch(() => undefined);
    }
    throw error;
  }
};

/** A file that the service has: read again, in whatever way, it is not sent again. */
interface Sent {
  readonly tenant_id: string;
  readonly document_id: string;
}

const sentFiles = new WeakMap<File, Sent>();

/** Files on their way: who asks meanwhile waits for the same. */
const sending = new WeakMap<File, Promise<Sent>>();

const sendNow = async (
  { file, tenant_id }: Pick<Asked, 'file' | 'tenant_id'>,
  { signal, tell }: Pick<Running, 'signal' | 'tell'>,
): Promise<Sent> => {
  const onProgress = ({ sentBytes, totalBytes }: Progress): void =>
    tell({ kind: 'sending', done: sentBytes, total: totalBytes });
  tell({ kind: 'sending', done: 0, total: file.size });
  const { document_id } = await sendUpload(file, { tenant_id, signal, onProgress });
  const sent = { tenant_id, document_id };
  sentFiles.set(file, sent);
  return sent;
};

const sendFile = async (
  asked: Pick<Asked, 'file' | 'tenant_id'>,
  running: Pick<Running, 'signal' | 'tell'>,
): Promise<Sent> => {
  const { file, tenant_id } = asked;
  const known = sentFiles.get(file) ?? (await sending.get(file)?.catch(() => undefined));
  if (known?.tenant_id === tenant_id) return known;
  const sent = sendNow(asked, running);
  sending.set(file, sent);
  return sent.finally(() => sending.delete(file));
};

/** What the service finds in a document before it is billed. */
export interface Counted {
  readonly status: 'ok' | 'not_found' | 'not_uploaded' | 'unsupported';
  readonly pages: number | null;
  readonly mime_type: string | null;
}

/** Whether a file is sent before somebody asks for its values. */
export const isSentEarly = ({ size }: File): boolean => size <= LARGE_BYTES;

/** Sends a file and counts its pages, which costs nothing. */
export const counted = async (asked: Pick<Asked, 'file' | 'tenant_id'>): Promise<Counted> => {
  const { document_id } = await sendFile(asked, { signal: NEVER, tell: () => undefined });
  const { items } = await quire.api.countPages({ body: { documents: [{ document_id }] } });
  const [item] = items;
  if (item === undefined) throw new Error('no document was counted');
  return item;
};

const NEVER = new AbortController().signal;

/** Says that the service has a file already. */
export const fileIsSent = (file: File, sent: Sent): void => void sentFiles.set(file, sent);

const isLong = ({ file, pages }: Asked): boolean => (pages ?? 1) > LONG_PAGES || file.size > LARGE_BYTES;

/** What the service answers to work on a document that it has: the result, or the operation that will have it. */
const askedOfSent = async (
  asked: Asked,
  { operation, payload }: Envelope,
  { sent, running }: { readonly sent: Sent; readonly running: Running },
): Promise<unknown> => {
  const { signal, idempotencyKey } = running;
  const { document_id, tenant_id } = sent;
  const scope = { tenant_id };
  const envelope = { schema_version: '1.0', operation, scope, resource: { document_id }, payload };
  // the generated unions tell their members apart by names that the service does not send
  const body = envelope as unknown as CanonicalEnvelope;
  const headers = isLong(asked) ? { Prefer: 'respond-async' } : {};
  const answer = await quire.api.canonical({ body, headers }, { signal, idempotencyKey });
  return (answer as { readonly result: unknown }).result;
};

const isOperation = (answer: unknown): answer is Operation =>
  typeof answer === 'object' && answer !== null && 'operation_id' in answer;

const readSent = async <Of extends Asked, Result>(
  way: Way<Of, Result>,
  asked: Of,
  { sent, running }: { readonly sent: Sent; readonly running: Running },
): Promise<Result> => {
  running.tell({ kind: 'reading', done: 0, total: 0 });
  try {
    const answer = await askedOfSent(asked, way.envelope(asked), { sent, running });
    return isOperation(answer) ? await followed<Result>(answer, running) : (answer as Result);
  } catch (error) {
    // it was removed meanwhile
    if (isProblem(error) && error.status === 404) sentFiles.delete(asked.file);
    throw error;
  }
};

/** The storage of the tenant is full: a small document is read all the same, and not kept. */
const isFull = (error: unknown, { file }: Asked): boolean =>
  isProblem(error) && error.code === 'upload_quota_exceeded' && file.size <= LARGE_BYTES;

/** Sends a document and reads it; where that takes long, in steps that are told and can be stopped. */
const readBy = async <Of extends Asked, Result>(
  way: Way<Of, Result>,
  asked: Of,
  running: Running,
): Promise<Result> => {
  const sent = await sendFile(asked, running).catch((error: unknown) => {
    if (isFull(error, asked)) return undefined;
    throw error;
  });
  const { signal, idempotencyKey } = running;
  const result =
    sent === undefined
      ? await way.now(asked, { signal, idempotencyKey })
      : await readSent(way, asked, { sent, running });
  running.told?.run(way.runOf(result));
  return result;
};

interface Identity {
  readonly file: File;
  readonly text: string;
  readonly key: string;
}

/** A way of reading, what it gave and how far it is. */
export type Reading<Of extends Asked, Result> = ReturnType<typeof useReading<Of, Result>>;

/** Reads a document in one way. The same work keeps one identity until it was done. */
export const useReading = <Of extends Asked, Result>(way: Way<Of, Result>, told?: Told) => {
  const [step, show] = useState<Step>();
  const stopping = useRef<AbortController>(undefined);
  const identity = useRef<Identity>(undefined);

  const keyOf = (asked: Of): string => {
    const { file } = asked;
    const text = way.textOf(asked);
    if (identity.current?.file !== file || identity.current.text !== text)
      identity.current = { file, text, key: crypto.randomUUID() };
    return identity.current.key;
  };

  const reading = useMutation({
    mutationFn: async (asked: Of): Promise<Result> => {
      stopping.current = new AbortController();
      const { signal } = stopping.current;
      const end = (): void => {
        identity.current = undefined;
      };
      const tell = (next: Step | undefined): void => {
        if (!signal.aborted) show(next);
      };
      const running: Running = { signal, tell, end, told, idempotencyKey: keyOf(asked) };
      try {
        const result = await readBy(way, asked, running);
        end();
        return result;
      } finally {
        tell(undefined);
      }
    },
  });
  const stop = (): void => {
    stopping.current?.abort();
    reading.reset();
    show(undefined);
  };
  return { reading, step, stop };
};
