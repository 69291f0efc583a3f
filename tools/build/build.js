// Bundles the service; with --watch again with every change.
import { bundle, watch } from './bundle.js';

await (process.argv.includes('--watch') ? watch() : bundle());
