import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CHECK_SCRIPT = fileURLToPath(new URL('./sqliteEventLogCheck.js', import.meta.url));

/** What was found, in this order. */
export type LogPart =
  | {
      readonly kind: 'facts';
      readonly position: number;
      readonly newest_at: string | null;
      /** Which log the file's header says it is, and which its first event; null: it does not say. */
      readonly log_id: { readonly header: string | null; readonly opened: string | null };
    }
  /** Of SQLite's own check; none: the file is whole. */
  | { readonly kind: 'file'; readonly complaints: readonly string[] }
  | {
      readonly kind: 'chains';
      readonly streams: number;
      readonly events: number;
      /** The first of them, in words. */
      readonly broken: readonly string[];
      readonly breaks: number;
    };

/** The message of the error that a process ended with. */
const messageIn = (text: string): string => /^(?:\w*Error): (.+)$/m.exec(text)?.[1] ?? text.trim();

/**
 * Looks at the embedded log beside the service: the file, and the hash chains of some streams, or `deep` of
 * all. An abort ends it; what was found until then is given.
 */
export const checkEventLog = async (
  path: string,
  { deep, signal }: { readonly deep: boolean; readonly signal: AbortSignal },
): Promise<{
  readonly parts: readonly LogPart[];
  /** Why it ended before it was done; null: it was done. */
  readonly error: string | null;
}> => {
  const child = spawn(process.execPath, [CHECK_SCRIPT, path, deep ? 'deep' : ''], {
    signal,
    killSignal: 'SIGKILL',
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  // An abort is told as an error too; the end follows.
  child.on('error', () => undefined);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const lines = out.split('\n').slice(0, -1);
  const error = code === 0 ? null : signal.aborted ? 'it was ended' : messageIn(err);
  return { parts: lines.map((line) => JSON.parse(line) as LogPart), error };
};
