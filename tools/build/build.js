// Bundles the service where a source is newer; with --watch again with every change.
import { bundle, isFresh, watch } from './bundle.js';

if (process.argv.includes('--watch')) await watch();
else if (!isFresh()) await bundle();
