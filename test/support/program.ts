import { fileURLToPath } from 'node:url';

/** Up to date, as the runner of specs says. */
const isBundled = process.env['QUIRE_BUNDLE'] === 'fresh';

const program = (name: string): string =>
  fileURLToPath(new URL(isBundled ? `../../../dist/${name}` : `../../src/${name}`, import.meta.url));

/** What a process runs that is the service: its bundle where that is up to date, else each file by itself. */
export const MAIN = program('main.js');

/** The same of the command line. */
export const CLI = program('cli.js');

/**
 * Options of Node for processes that specs start. They live for seconds: that V8 compiles embedded Postgres once more
 * for speed, beside its work, would cost as much as everything else in a start. Benchmarks run as the service does.
 */
export const NODE_OPTIONS = process.env['QUIRE_SHORT_LIVED'] === 'yes' ? ['--liftoff-only'] : [];
