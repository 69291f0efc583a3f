import { readSync, type ReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import type { Job, ReceivedFile, SentFile } from '../jobs.ts';

/** Where children find the bytes of their job's file: after the standard streams and the channel. */
export const BYTES_AT = 4;

const CHUNK_BYTES = 256 * 1024;

type AnyJob = Job | Job<SentFile>;
const hasFile = <J extends AnyJob>(job: J): job is Extract<J, { readonly file: unknown }> => 'file' in job;

/** A job as it is told to a child, and the bytes that must follow it. */
export interface Sending {
  readonly job: Job<SentFile>;
  /** Writes the bytes; fails when the child is gone or the file is shorter than it was. */
  readonly follow: (pipe: Writable) => Promise<void>;
}

/**
 * Opens the file of a job, so that its child needs no right to read any: it gets bytes, not a path. A job
 * without a file has nothing to follow it.
 */
export const sendingOf = async (job: Job): Promise<Sending> => {
  if (!hasFile(job)) return { job, follow: () => Promise.resolve() };
  const { path, ...facts } = job.file;
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const stream = file.createReadStream({ end: Math.max(0, size - 1), highWaterMark: CHUNK_BYTES });
    const follow = (pipe: Writable): Promise<void> => written(stream, size, pipe);
    return { job: { ...job, file: { ...facts, bytesCount: size } }, follow };
  } catch (error) {
    await file.close();
    throw error;
  }
};

const written = async (stream: ReadStream, size: number, pipe: Writable): Promise<void> => {
  for await (const chunk of stream) await taken(pipe, chunk as Buffer);
  if (stream.bytesRead !== size) throw new Error('A file changed while it was sent to be read.');
};

/** Waits until the child's pipe has taken a chunk, so that one is in memory at a time. */
const taken = (pipe: Writable, chunk: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    pipe.write(chunk, (error) => (error == null ? resolve() : reject(error)));
  });

/** In the child: the job with the bytes of its file, which it waits for. */
export const received = (job: Job<SentFile>): Job<ReceivedFile> => {
  if (!hasFile(job)) return job;
  const { bytesCount, ...facts } = job.file;
  const bytes = Buffer.allocUnsafeSlow(bytesCount);
  for (let at = 0; at < bytesCount; ) {
    const count = readSync(BYTES_AT, bytes, at, bytesCount - at, null);
    if (count === 0) process.exit(0);
    at += count;
  }
  return { ...job, file: { ...facts, bytes } };
};
