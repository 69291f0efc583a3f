// Starts the service. It and the console are built where a source is newer, at the same time and in processes of their
// own: what compiles does not stay in the memory of what runs. The service starts as soon as it is built itself: until
// the console is there too, its page says so and asks again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { isFresh } from './bundle.js';
import { isConsoleFresh } from './console.js';

/** Runs a script of this folder until it ends, or this process does; gives its exit code. */
const built = async (script, ...args) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const [code] = await once(child, 'exit');
  process.off('exit', end);
  return code;
};

// Asked once: each answer takes the times of hundreds of files.
const isStale = { service: !isFresh(), console: !isConsoleFresh() };

const buildService = async () => {
  if (isStale.service && (await built('build.js', '--service')) !== 0) process.exit(1);
};

const buildConsole = async () => {
  if (isStale.console && (await built('console.js')) !== 0)
    writeSync(2, 'The console could not be built: the service starts without it.\n');
};

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const end = () => process.exit(0);
for (const signal of SIGNALS) process.on(signal, end);
if (isStale.service || isStale.console) writeSync(1, 'Building what is newer than the last build …\n');
void buildConsole();
await buildService();
for (const signal of SIGNALS) process.off(signal, end);
await import('../../dist/main.js');
