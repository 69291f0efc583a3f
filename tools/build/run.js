// Runs a TypeScript file of the checkout: node tools/build/run.js <file.ts> [its arguments]
import { isFresh } from './bundle.js';
import { launch } from './launch.js';
import { mirror, mirrored } from './mirror.js';

const [file = '', ...args] = process.argv.slice(2);
await mirror();
launch(['--enable-source-maps', mirrored(file), ...args], { QUIRE_BUNDLE: isFresh() ? 'fresh' : '' });
