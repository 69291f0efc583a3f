import { inspect } from 'node:util';
import { configFrom, forgetSecrets, isBelowNpm, ownRedactor } from './config.ts';
import { openParts } from './parts/parts.ts';
import { startQuire } from './service/quire.ts';
import { complain, say } from './telemetry/output.ts';
import { isForOperator } from './operator/socket.ts';

/** Time that running work gets to finish after SIGTERM, ms. */
const DRAIN_MS = 30_000;

/** Files that the service writes (events, uploads, objects) are only for its own user. */
const PRIVATE_FILES = 0o077;

const redact = ownRedactor();

const fail = (error: unknown): never => {
  complain(`${redact(isForOperator(error) ? `Quire cannot start.\n${error.message}` : inspect(error))}\n`);
  process.exit(1);
};

/**
 * The EventStoreDB client can throw where nobody can catch it (a late second answer to an append). What
 * this process knows is then in doubt: it ends, and the next start settles what was left open.
 */
const dieOf = (error: unknown): void => {
  complain(`Quire stops: a defect left it in an unknown state. ${redact(inspect(error))}\n`);
  process.exit(70);
};

/** A signal that comes again within this time is the same one, ms: a terminal and npm both pass it on. */
const AGAIN_MS = 1_000;

/** How often it is looked whether npm still runs, ms. */
const LOOK_EVERY_MS = 500;

class StopAsked extends Error {
  override readonly name = 'StopAsked';
}

/** Aborts on the signal to end; on a second signal the process ends at once. */
const stopSignal = (): AbortSignal => {
  const stopping = new AbortController();
  let firstAt = 0;
  const tell = (by: string): void => {
    if (stopping.signal.aborted) {
      if (performance.now() - firstAt > AGAIN_MS) process.exit(130);
      return;
    }
    firstAt = performance.now();
    say(`\n${by}: finishing running work (again to stop at once) …\n`);
    setTimeout(() => process.exit(1), DRAIN_MS).unref();
    stopping.abort(new StopAsked());
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, tell);
  if (isBelowNpm()) whenParentEnds(() => tell('npm has ended'));
  return stopping.signal;
};

/** npm, or its shell, may end without a word to what it runs: that would keep the port and the folder. */
const whenParentEnds = (tell: () => void): void => {
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    tell();
  }, LOOK_EVERY_MS).unref();
};

/** Told while it started: what was open is closed. */
const wasStopped = (error: unknown): boolean =>
  error instanceof StopAsked || (error instanceof Error && error.cause instanceof StopAsked);

const untilStopped = (stopping: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (stopping.aborted) resolve();
    else stopping.addEventListener('abort', () => resolve(), { once: true });
  });

const main = async (): Promise<void> => {
  process.umask(PRIVATE_FILES);
  process.on('uncaughtException', dieOf);
  process.on('unhandledRejection', dieOf);
  const stopping = stopSignal();
  const config = configFrom();
  if (!forgetSecrets() && process.platform === 'linux')
    complain('Secrets could not be erased from /proc/<pid>/environ: this system forbids it.\n');
  const quire = await startQuire(config, openParts, stopping);
  await untilStopped(stopping);
  await quire.stop();
};

void main()
  .catch((error: unknown) => (wasStopped(error) ? undefined : fail(error)))
  .then(() => process.exit(0));
