// Runs the specs named, files or patterns, from their TypeScript; every other argument is mocha's, as `--grep`.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { launch } from './launch.js';
import { mirror, mirrored } from './mirror.js';

const MOCHA = join(createRequire(import.meta.url).resolve('mocha/package.json'), '../bin/mocha.js');

await mirror();
launch([MOCHA, ...process.argv.slice(2).map((argument) => mirrored(argument))]);
