import { inspect } from 'node:util';
import { ConfigError, configFrom, forgetSecrets, ownRedactor } from './config.ts';
import { ServerAway } from './composition/start/awaitServer.ts';
import { startQuire } from './composition/quire.ts';

/** Time that running work gets to finish after SIGTERM, ms. */
const DRAIN_MS = 30_000;

/** What the service writes (events, uploads, objects) is for its own user alone. */
const PRIVATE_FILES = 0o077;

const redact = ownRedactor();

const fail = (error: unknown): never => {
  const known =
    error instanceof ConfigError ||
    error instanceof ServerAway ||
    (error instanceof Error && error.name === 'DataDirInUse');
  console.error(redact(known ? `Quire cannot start.\n${error.message}` : inspect(error)));
  process.exit(1);
};

/**
 * The EventStoreDB client can throw where nobody can catch it (a late second answer to an append). What
 * this process knows is then in doubt: it ends, and the next start settles what was left open.
 */
const dieOf = (error: unknown): void => {
  console.error('Quire stops: a defect left it in an unknown state.', redact(inspect(error)));
  process.exit(70);
};

const main = async (): Promise<void> => {
  process.umask(PRIVATE_FILES);
  const config = configFrom();
  if (!forgetSecrets() && process.platform === 'linux')
    console.warn('Secrets could not be erased from /proc/<pid>/environ: this system forbids it.');
  const quire = await startQuire(config);
  process.on('uncaughtException', dieOf);
  process.on('unhandledRejection', dieOf);
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) process.exit(130);
    stopping = true;
    console.log(`\n${signal}: finishing running work (again to stop at once) …`);
    setTimeout(() => process.exit(1), DRAIN_MS).unref();
    quire.stop().then(() => process.exit(0), fail);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
};

main().catch(fail);
