import { Worker } from 'node:worker_threads';
import { messageOf } from '../../../domain/kernel/failure.ts';
import { SqlUnavailable } from '../../../projections/engine/ports.ts';
import type { PgliteReply, PgliteRequest } from './pgliteWorker.ts';

/** A request without its number. */
type PgliteCall = PgliteRequest extends infer R ? (R extends PgliteRequest ? Omit<R, 'id'> : never) : never;

/** A statement that PGlite refused, with its SQLSTATE; '' where it has none. */
export class PgliteError extends Error {
  override readonly name = 'PgliteError';
  readonly code: string;
  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** No room, no memory, a disk that fails: the same statement succeeds once that is mended. */
const isLackOfMeans = (code: string): boolean => /^(53|58)...$/.test(code);

const refusal = (message: string, code: string): Error =>
  isLackOfMeans(code)
    ? new SqlUnavailable(`embedded Postgres cannot write: ${message}`)
    : new PgliteError(message, code);

export interface PgliteThread {
  call(request: PgliteCall): Promise<PgliteReply & { readonly kind: 'done' }>;
  terminate(): Promise<void>;
}

interface Waiting {
  readonly resolve: (reply: PgliteReply & { readonly kind: 'done' }) => void;
  readonly reject: (error: Error) => void;
}

/** Starts PGlite in a thread of its own, on `folder` or in memory; rejects when it does not open. */
export const startPgliteThread = async (folder: string | null): Promise<PgliteThread> => {
  const worker = new Worker(new URL('./pgliteWorker.js', import.meta.url), { workerData: { folder } });
  const waiting = new Map<number, Waiting>();
  let gone: SqlUnavailable | undefined;
  let calls = 0;

  const stopped = (reason: string) => {
    gone ??= new SqlUnavailable(`embedded Postgres has stopped: ${reason}`);
    for (const { reject } of waiting.values()) reject(gone);
    waiting.clear();
  };
  worker.on('error', (error) => stopped(messageOf(error)));
  worker.on('exit', (code) => stopped(`exit code ${String(code)}`));
  worker.on('message', (reply: PgliteReply) => {
    const caller = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.kind === 'done') caller?.resolve(reply);
    else caller?.reject(refusal(reply.message, reply.code));
  });

  await new Promise((resolve, reject) => waiting.set(0, { resolve, reject }));
  return {
    call: (request) =>
      new Promise((resolve, reject) => {
        if (gone !== undefined) {
          reject(gone);
          return;
        }
        calls += 1;
        waiting.set(calls, { resolve, reject });
        worker.postMessage({ ...request, id: calls });
      }),
    terminate: async () => {
      await worker.terminate();
    },
  };
};
