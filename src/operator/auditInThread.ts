import { Worker } from 'node:worker_threads';
import type { RunAudit } from '../commands/audits.ts';
import type { Config } from '../config.ts';
import type { AuditReport } from '../audit/runAudit.ts';
import type { AuditThreadData, AuditThreadMessage } from './auditThread.ts';

/** Time for a cancelled audit to remove its files, ms. */
const GRACE_MS = 5_000;

/**
 * Audits in a thread of its own, which opens the log for reading as the command does: requests meanwhile wait
 * only for the rows of the read models, which an embedded database sends.
 */
export const auditInThread =
  ({ dataDir, databaseUrl, eventStoreUrl, s3 }: Config): RunAudit =>
  async ({ log_only, all }, { onProgress, signal }) => {
    signal.throwIfAborted();
    const config = { dataDir, databaseUrl, eventStoreUrl, s3 };
    const workerData: AuditThreadData = { config, log_only, all };
    const thread = new Worker(new URL('./auditThread.js', import.meta.url), { workerData });
    let timer: NodeJS.Timeout | undefined;
    const stop = (): void => {
      thread.postMessage('stop');
      timer = setTimeout(() => void thread.terminate(), GRACE_MS);
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await new Promise<AuditReport>((resolve, reject) => {
        thread.on('message', (message: AuditThreadMessage) => {
          if ('progress' in message) onProgress(message.progress);
          else if ('report' in message) resolve(message.report);
          else reject(new Error(message.failed));
        });
        thread.once('error', reject);
        thread.once('exit', () => reject(new Error('the audit ended without a report')));
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  };
