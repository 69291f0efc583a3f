import { parentPort, workerData } from 'node:worker_threads';
import { runAudit, type AuditReport, type AuditRequest } from '../audit/runAudit.ts';
import type { AuditOptions, AuditProgress } from '../commands/audits.ts';
import { messageOf } from '../../domain/kernel/json.ts';
import { runningSocket } from './socket.ts';
import { auditedObjects, timeNow, withAuditedLog, withReadModels, type AuditedFeed } from './auditedLog.ts';
import { findSeals } from './auditedLog.ts';
import type { StoreConfig } from '../parts/stores.ts';
import type { Config } from '../config.ts';

/** Input of the thread: where log, tables and seals are. */
export type AuditThreadData = Pick<AuditOptions, 'log_only' | 'all'> & {
  readonly config: StoreConfig & Pick<Config, 's3'>;
};

/** Messages of the thread: its progress, and once its result. */
export type AuditThreadMessage =
  | { readonly progress: AuditProgress }
  | { readonly report: AuditReport }
  | { readonly failed: string };

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const { config, log_only, all } = workerData as AuditThreadData;
const ending = new AbortController();
port.once('message', () => ending.abort());

const tell = (message: AuditThreadMessage): void => port.postMessage(message);

const audit = async (
  { feed, dense, startChains, startShares, checkArchive }: AuditedFeed,
  beside: Pick<AuditRequest, 'snapshot' | 'objects' | 'notes'> = {},
): Promise<AuditReport> => {
  const end_position = (await feed.end())?.toString() ?? null;
  const told = (events: number, position: string | null): void =>
    tell({ progress: { stage: 'reading_log', events, position, end_position } });
  told(0, null);
  const { flaws: sealFlaws, ...found } = await findSeals(config, feed, timeNow());
  const notes = [...found.notes, ...(beside.notes ?? [])];
  const { report } = await runAudit({
    feed,
    dense,
    startChains,
    startShares,
    sealFlaws,
    archive: await checkArchive?.(ending.signal),
    ...found,
    ...beside,
    notes,
    onProgress: (events, position) => told(events, position.toString()),
    signal: ending.signal,
    ...(all && { keep: Infinity }),
  });
  told(report.facts.events, report.facts.position);
  return report;
};

const made = async (log: AuditedFeed): Promise<AuditReport> => {
  if (log_only) return audit(log);
  // The process of this thread has the embedded tables open: a second opening would break them.
  if (config.databaseUrl === undefined && (await runningSocket(config.dataDir)) === undefined)
    throw new Error('The service does not hand out its read models yet: try again in a moment.');
  tell({ progress: { stage: 'reading_tables', events: 0, position: null, end_position: null } });
  return withReadModels(config, async (snapshot) =>
    audit(log, { snapshot, ...(await auditedObjects(config, ending.signal)) }),
  );
};

try {
  tell({ report: await withAuditedLog(config, made) });
} catch (error) {
  tell({ failed: messageOf(error) });
}
port.close();
