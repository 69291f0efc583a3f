// Starts the service. It is bundled first where a source is newer, in a process of its own: what compiles does
// not stay in the memory of what runs.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { isFresh } from './bundle.js';

if (!isFresh()) execFileSync(process.execPath, [join(import.meta.dirname, 'build.js')], { stdio: 'inherit' });
await import('../../dist/main.js');
