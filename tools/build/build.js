// Bundles the service and the console where a source is newer; with --watch the service again with every change.
// With --service the console is left to whoever starts it beside; with --smallest it is compressed for an image.
import { bundle, isFresh, watch } from './bundle.js';
import { askedQuality, buildConsole, isConsoleFresh } from './console.js';

if (process.argv.includes('--watch')) await watch();
else {
  if (!isFresh()) await bundle();
  if (!process.argv.includes('--service') && !isConsoleFresh(askedQuality()))
    await buildConsole(askedQuality());
}
