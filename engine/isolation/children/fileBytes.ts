import { readSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import type { Job, JobOutcome, SentFile, SentJob } from './jobs.ts';
import type { ReceivedFile } from '../../formats/pieces/received.ts';

/** Where children find the bytes of their job's file: after the standard streams and the channel. */
export const BYTES_AT = 4;

const CHUNK_BYTES = 256 * 1024;

type AnyJob = Job | Job<SentFile>;
const hasFile = <J extends AnyJob>(job: J): job is Extract<J, { readonly file: unknown }> => 'file' in job;

/** Where a job goes: a message that tells it, and a pipe for the bytes of its file. */
interface Recipient {
  readonly tell: (job: SentJob) => Promise<void>;
  readonly pipe: Writable;
}

/** A job, and whether the child that it goes to keeps the file of its request open. */
export interface Sending {
  readonly job: Job;
  readonly isKept: boolean;
  /** Of the job's own work. */
  readonly deadlineMs: number;
}

/**
 * Sends a job and the bytes of its file, so that a child needs no right to read any; a child that has kept
 * the file is not sent it again. Gives what the job came to where that cannot be done.
 */
export const sentTo = async (
  { tell, pipe }: Recipient,
  { job, isKept, deadlineMs }: Sending,
): Promise<JobOutcome | undefined> => {
  if (!hasFile(job)) return diedUnless(tell({ ...job, deadlineMs, ...(isKept && { beside: true }) }));
  const { path, ...facts } = job.file;
  if (isKept) return diedUnless(tell({ ...job, deadlineMs, file: { ...facts, bytesCount: null } }));
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : 'the file cannot be opened' };
  }
  const send = async (): Promise<void> => {
    const { size: bytesCount } = await file.stat();
    await tell({ ...job, deadlineMs, file: { ...facts, bytesCount } });
    await copied(file, bytesCount, pipe);
  };
  try {
    return await diedUnless(send());
  } finally {
    await file.close();
  }
};

const diedUnless = (sending: Promise<void>): Promise<JobOutcome | undefined> =>
  sending.then(
    () => undefined,
    () => ({ kind: 'died' }),
  );

/** One chunk is in memory at a time. Fails when the child is gone, or the file is shorter than it was. */
const copied = async (file: FileHandle, size: number, pipe: Writable): Promise<void> => {
  const chunk = Buffer.allocUnsafeSlow(Math.min(size, CHUNK_BYTES));
  for (let at = 0; at < size;) {
    const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, size - at), at);
    if (bytesRead === 0) throw new Error('A file changed while it was sent to be read.');
    await taken(pipe, chunk.subarray(0, bytesRead));
    at += bytesRead;
  }
};

const taken = (pipe: Writable, chunk: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    pipe.write(chunk, (error) => (error == null ? resolve() : reject(error)));
  });

/** In the child: the job with the bytes of its file, which it waits for unless they are `kept`. */
export const received = (job: Job<SentFile>, kept?: Buffer): Job<ReceivedFile> => {
  if (!hasFile(job)) return job;
  const { bytesCount, keep: _, ...facts } = job.file;
  const bytes = bytesCount === null ? kept : bytesSent(bytesCount);
  if (bytes === undefined) throw new Error('A job goes on with a file that is not open.');
  return { ...job, file: { ...facts, bytes } };
};

const bytesSent = (bytesCount: number): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(bytesCount);
  for (let at = 0; at < bytesCount;) {
    const count = readSync(BYTES_AT, bytes, at, bytesCount - at, null);
    if (count === 0) process.exit(0);
    at += count;
  }
  return bytes;
};
