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

/** Longer documents are read after the answer, so that their pages can be counted. */
const LONG_PAGES = 5;
/** Larger files are sent by themselves first: their bytes can be counted, and stopped. */
const LARGE_BYTES = 8 * 1024 * 1024;

/** How far a reading is. */
export interface Step {
  readonly kind: 'sending' | 'reading';
  readonly done: number;
  readonly total: number;
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
}

interface Running {
  readonly signal: AbortSignal;
  readonly tell: (step: Step) => void;
  readonly idempotencyKey: string;
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
  readonly later: (asked: Of, options: CallOptions) => Promise<Operation>;
  readonly envelope: (asked: Of) => Envelope;
}

/** How it is read, where that is said. */
const wayOf = ({ mode, model }: AskedValues) => ({
  ...(mode === undefined ? {} : { mode }),
  ...(model === undefined ? {} : { llm_provider_model: model }),
});

const formOf = (asked: AskedValues) => {
  const { file, schema, tenant_id } = asked;
  return { file, schema, tenant_id, allow_partial: true, ...wayOf(asked) };
};

/** For its values. */
export const VALUES: Way<AskedValues, ExtractionResult> = {
  textOf: (asked) => JSON.stringify([asked.schema, wayOf(asked)]),
  now: (asked, options) => quire.extract(formOf(asked), options),
  later: (asked, options) => quire.extractLater(formOf(asked), options),
  envelope: (asked) => ({
    operation: 'inference.extract',
    payload: {
      schema: JSON.parse(asked.schema) as Record<string, unknown>,
      allow_partial: true,
      ...wayOf(asked),
    },
  }),
};

const include = 'blocks,proposed_schema';

/** For its markdown, with its blocks and the fields that it names itself. */
export const MARKDOWN: Way<Asked, MarkdownResult> = {
  textOf: () => '',
  now: ({ file, tenant_id }, options) => quire.toMarkdown({ file, tenant_id, include }, options),
  later: ({ file, tenant_id }, options) => quire.toMarkdownLater({ file, tenant_id, include }, options),
  envelope: () => ({ operation: 'inference.to_markdown', payload: { include } }),
};

const hasEnded = ({ status }: Operation): boolean => status !== 'queued' && status !== 'running';

/** Work that goes on after the answer, page by page; stopped, it is cancelled and costs nothing. */
const followed = async <Result>(operation: Operation, { signal, tell, end }: Running): Promise<Result> => {
  const onProgress = (state: Operation): void => {
    if (hasEnded(state)) end();
    tell({ kind: 'reading', ...state.pages });
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

/** A file that was sent by itself: read again, in whatever way, it is not sent again. */
interface Sent {
  readonly tenant_id: string;
  readonly file_uri: string;
}

const sentFiles = new WeakMap<File, Sent>();

const sendLarge = async ({ file, tenant_id }: Asked, { signal, tell }: Running): Promise<Sent> => {
  const known = sentFiles.get(file);
  if (known?.tenant_id === tenant_id) return known;
  const onProgress = ({ sentBytes, totalBytes }: Progress): void =>
    tell({ kind: 'sending', done: sentBytes, total: totalBytes });
  tell({ kind: 'sending', done: 0, total: file.size });
  const { file_uri } = await sendUpload(file, { tenant_id, signal, onProgress });
  const sent = { tenant_id, file_uri };
  sentFiles.set(file, sent);
  return sent;
};

const askedOfSent = async (
  { operation, payload }: Envelope,
  { file_uri, tenant_id }: Sent,
  { signal, idempotencyKey }: Running,
): Promise<Operation> => {
  const scope = { tenant_id };
  const envelope = { schema_version: '1.0', operation, scope, resource: { file_uri }, payload };
  // the generated unions tell their members apart by names that the service does not send
  const body = envelope as unknown as CanonicalEnvelope;
  const input = { body, headers: { Prefer: 'respond-async' } };
  const answer = await quire.api.canonical(input, { signal, idempotencyKey });
  return (answer as unknown as { readonly result: Operation }).result;
};

const readLarge = async <Of extends Asked, Result>(
  way: Way<Of, Result>,
  asked: Of,
  running: Running,
): Promise<Result> => {
  const sent = await sendLarge(asked, running);
  running.tell({ kind: 'reading', done: 0, total: 0 });
  try {
    return await followed<Result>(await askedOfSent(way.envelope(asked), sent, running), running);
  } catch (error) {
    // it was removed meanwhile
    if (isProblem(error) && error.status === 404) sentFiles.delete(asked.file);
    throw error;
  }
};

/** Reads a document: in one request, or, where that takes long, in steps that are told and can be stopped. */
const readBy = async <Of extends Asked, Result>(
  way: Way<Of, Result>,
  asked: Of,
  running: Running,
): Promise<Result> => {
  const { signal, tell, idempotencyKey } = running;
  if (asked.file.size > LARGE_BYTES) return readLarge(way, asked, running);
  tell({ kind: 'reading', done: 0, total: 0 });
  if ((asked.pages ?? 1) <= LONG_PAGES) return way.now(asked, { signal, idempotencyKey });
  return followed(await way.later(asked, { signal, idempotencyKey }), running);
};

interface Identity {
  readonly file: File;
  readonly text: string;
  readonly key: string;
}

/** A way of reading, what it gave and how far it is. */
export type Reading<Of extends Asked, Result> = ReturnType<typeof useReading<Of, Result>>;

/** Reads a document in one way. The same work keeps one identity until it was done. */
export const useReading = <Of extends Asked, Result>(way: Way<Of, Result>) => {
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
      const running: Running = { signal, tell, end, idempotencyKey: keyOf(asked) };
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
