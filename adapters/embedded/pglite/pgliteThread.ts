import { Worker } from 'node:worker_threads';
import { messageOf } from '../../../domain/kernel/failure.ts';
import { SqlUnavailable } from '../../../projections/engine/ports.ts';
import { refusal } from './pgliteFailure.ts';
import type { PgliteReply, PgliteRequest } from './pgliteServer.ts';

/** A request without its number. */
type PgliteCall = PgliteRequest extends infer R ? (R extends PgliteRequest ? Omit<R, 'id'> : never) : never;

export interface PgliteThread {
  call(request: PgliteCall): Promise<PgliteReply & { readonly kind: 'done' }>;
  terminate(): Promise<void>;
}

/** Starts a thread that serves PGlite, on a folder or in memory. */
export type StartWorker = (folder: string | null) => Worker;

/** A thread for PGlite alone. */
export const pgliteAlone: StartWorker = (folder) =>
  new Worker(new URL('./pgliteWorker.js', import.meta.url), { workerData: { folder } });

interface Waiting {
  readonly resolve: (reply: PgliteReply & { readonly kind: 'done' }) => void;
  readonly reject: (error: Error) => void;
}

/** Asks PGlite in its thread; rejects when it does not open. */
export const openPgliteThread = async (worker: Worker): Promise<PgliteThread> => {
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
