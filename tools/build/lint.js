// Lints some rooms at a time: the types of all at once need more memory than Node gives itself, and each time the
// whole project is loaded anew.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from './workspaces.js';

const ESLINT = join(createRequire(import.meta.url).resolve('eslint/package.json'), '../bin/eslint.js');
const ROOMS = [
  ['engine', 'sdk', 'domain', 'projections', 'adapters', 'src'],
  ['test', 'tools', '*.js'],
  ['console'],
];
const MEGABYTES = 8_192;

const lint = (rooms) =>
  spawnSync(process.execPath, [`--max-old-space-size=${MEGABYTES}`, ESLINT, ...rooms], {
    cwd: ROOT,
    stdio: 'inherit',
  }).status === 0;

const clean = ROOMS.map(lint);
process.exit(clean.every(Boolean) ? 0 : 1);
