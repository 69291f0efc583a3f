import { parentPort, workerData } from 'node:worker_threads';
import { systemTimers } from '../../adapters/local/local.ts';
import { postgresSql } from '../../adapters/postgres.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { fillPart, type PartProgress } from '../../projections/engine/spreading.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { openLog } from '../parts/stores.ts';
import { failureOf, type RebuildThreadData, type RebuildThreadMessage } from './rebuildInThreads.ts';

/** One transaction for every other read model, and one that looks. */
const CONNECTIONS = 3;

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const { config, part } = workerData as RebuildThreadData;
const ending = new AbortController();
port.once('message', () => ending.abort());
const tell = (message: RebuildThreadMessage): void => port.postMessage(message);

const work = async (): Promise<void> => {
  const feed = await openLog(config, { readOnly: true });
  const sql = postgresSql({ url: config.databaseUrl, poolMax: CONNECTIONS });
  const deps = { sql, feed, projectors: READ_MODELS, decode: decodeAny, timers: systemTimers };
  const onProgress = (progress: PartProgress): void => tell({ progress });
  try {
    await fillPart(deps)(part, { onProgress, signal: ending.signal });
  } finally {
    await feed.close();
    await sql.close();
  }
};

try {
  await work();
  tell({ done: true });
} catch (error) {
  tell({ failed: failureOf(error) });
}
port.close();
