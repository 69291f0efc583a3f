// Runs a TypeScript file of the checkout: node tools/build/run.js <file.ts> [its arguments]
import { mirror, mirrored } from './mirror.js';
import { launch } from './launch.js';

const [file = '', ...args] = process.argv.slice(2);
await mirror();
launch(['--enable-source-maps', mirrored(file), ...args]);
