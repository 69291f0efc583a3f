import { parentPort, workerData } from 'node:worker_threads';
import { systemTimers } from '../../adapters/local/local.ts';
import { postgresSql } from '../../adapters/postgres.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { messageOf } from '../../domain/kernel/json.ts';
import { LogUnavailable } from '../../domain/ports/log.ts';
import { type Divergence, ReadModelsDiverged } from '../../projections/engine/divergence.ts';
import { SqlUnavailable } from '../../projections/engine/ports.ts';
import { fillPart, type PartOfRebuild, type PartProgress } from '../../projections/engine/spreading.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { openLog, type StoreConfig } from '../parts/stores.ts';

/** Input of the thread: where log and read models are, and what it does. */
export interface RebuildThreadData {
  readonly config: StoreConfig & { readonly databaseUrl: string };
  readonly part: PartOfRebuild;
}

/** Why a part failed: what may succeed later, or was of another log, is told apart. */
export type PartFailure =
  | { readonly kind: 'sql' | 'log' | 'other'; readonly message: string }
  | { readonly kind: 'diverged'; readonly divergence: Divergence };

/** Messages of the thread: its progress, and once how it ended. */
export type RebuildThreadMessage =
  | { readonly progress: PartProgress }
  | { readonly done: true }
  | { readonly failed: PartFailure };

const failureOf = (error: unknown): PartFailure => {
  if (error instanceof ReadModelsDiverged) return { kind: 'diverged', divergence: error.divergence };
  const kind = error instanceof SqlUnavailable ? 'sql' : error instanceof LogUnavailable ? 'log' : 'other';
  return { kind, message: messageOf(error) };
};

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
