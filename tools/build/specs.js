// Runs the specs named, files or patterns, from their TypeScript; every other argument is mocha's, as `--grep`.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isFresh } from './bundle.js';
import { launch } from './launch.js';
import { mirror, mirrored } from './mirror.js';

const MOCHA = join(createRequire(import.meta.url).resolve('mocha/package.json'), '../bin/mocha.js');

await mirror();
// Services that specs start come from the bundle, which starts in a third of the time, where it is up to date.
launch([MOCHA, ...process.argv.slice(2).map((argument) => mirrored(argument))], {
  QUIRE_BUNDLE: isFresh() ? 'fresh' : '',
  QUIRE_SHORT_LIVED: 'yes',
});
