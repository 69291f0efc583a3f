import { execFile } from 'node:child_process';
import { chmod, open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { LogNotCopied } from '../../../domain/ports/dataFolder.ts';
import { NO_ROOM } from './copyFailure.ts';

const COPY_SCRIPT = fileURLToPath(new URL('./sqliteEventLogCopy.js', import.meta.url));

/** The program ends by a code, and prints what SQLite said; what else ended it says so itself. */
const notCopied = (error: unknown): LogNotCopied => {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const isFull = error instanceof Error && 'code' in error && error.code === NO_ROOM;
  return new LogNotCopied(said === '' ? String(error) : said, { isFull });
};

/**
 * Copies the embedded log as it is at one moment to the new file `to`, durable when it resolves; the
 * service may go on writing. Only its owner can read the copy. Throws LogNotCopied; nothing writes to `to` then.
 */
export const copyEventLog = async (from: string, to: string, signal: AbortSignal): Promise<void> => {
  const copying = promisify(execFile)(process.execPath, [COPY_SCRIPT, from, to], { signal });
  const ended = new Promise((resolve) => copying.child.once('close', resolve));
  try {
    await copying;
  } catch (error) {
    // An abort is told when the program was told to end: until it has ended it may write.
    if (copying.child.pid !== undefined) await ended;
    signal.throwIfAborted();
    throw notCopied(error);
  }
  await chmod(to, 0o600);
  const handle = await open(to, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
