import { parentPort, workerData } from 'node:worker_threads';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { type ArchivePlace, archiveIn } from '../parts/archive.ts';
import { auditChains, type ChainsWork } from '../audit/chains.ts';

/** Which log the thread reads, and how far. */
export interface ChainsOf {
  readonly path: string;
  readonly upTo: bigint;
  readonly archive: ArchivePlace | undefined;
  readonly work: ChainsWork;
}

/** A thread of its own: reads the embedded log for itself, and hands over what it found. */
const { path, upTo, archive, work } = workerData as ChainsOf;
const feed = openSqliteEventLog({
  path,
  readOnly: true,
  stored: true,
  archive: archive && archiveIn(archive),
});
parentPort?.postMessage(await auditChains(work, feed, upTo));
await feed.close();
