import { parentPort, workerData } from 'node:worker_threads';
import { openPgliteSession, servePglite } from './server.ts';

/** PGlite in a thread of its own. */
if (parentPort === null) throw new Error('pgliteWorker runs as a worker thread');
const { folder } = workerData as { readonly folder: string | null };
servePglite(parentPort, await openPgliteSession(folder));
