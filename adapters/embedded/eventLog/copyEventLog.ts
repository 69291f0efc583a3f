import { execFile } from 'node:child_process';
import { chmod, open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SCRIPT = fileURLToPath(new URL('./sqliteEventLogCopy.js', import.meta.url));

/** What SQLite said, out of all that a process prints when it ends by an error. */
const reasonIn = (error: unknown): string => {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  return /^(?:\w*Error): (.+)$/m.exec(text)?.[1] ?? text.trim();
};

/**
 * Copies the embedded log as it is at one moment to the new file `to`, durable when it resolves; the
 * service may go on writing. Only its owner can read the copy. Throws with SQLite's reason.
 */
export const copyEventLog = async (from: string, to: string, signal: AbortSignal): Promise<void> => {
  try {
    await promisify(execFile)(process.execPath, [SCRIPT, from, to], { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`the event log could not be copied: ${reasonIn(error)}`, { cause: error });
  }
  await chmod(to, 0o600);
  const handle = await open(to, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
