// Starts the service. It is bundled first where a source is newer, in a process of its own: what compiles does
// not stay in the memory of what runs. The console is built beside the running service, which answers without it.
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { isFresh } from './bundle.js';
import { isConsoleFresh } from './console.js';

const script = (name) => join(import.meta.dirname, name);

if (!isFresh()) execFileSync(process.execPath, [script('build.js'), '--service'], { stdio: 'inherit' });
await import('../../dist/main.js');
if (!isConsoleFresh()) {
  spawn(process.execPath, [script('console.js'), '--low'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  }).unref();
}
