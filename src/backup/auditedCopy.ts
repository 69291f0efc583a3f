import { auditLog } from '../audit/log/auditLog.ts';
import type { AuditedLog } from '../audit/log/chainsCheck.ts';
import { findingsKept, type Finding, type Findings } from '../audit/findings.ts';
import { LOG_STREAM, SEALS_STREAM } from '../../domain/kernel/json.ts';
import { sealsInLog } from '../audit/seals/sealsInLog.ts';
import type { Seal } from '../audit/seals/seal.ts';
import { sealsCheck } from '../audit/seals/sealCheck.ts';
import { identityOf } from '../../domain/eventLog/eventLog.ts';
import type { EventFeed, EventStore } from '../../domain/ports/log.ts';
import { objectNeeds, type Need } from './objectNeeds.ts';

/** A log that was copied, opened for reading only. */
export interface OpenedLog {
  readonly feed: EventFeed & Pick<EventStore, 'read'>;
  /** Which log the file's header says it is; null where it does not say. */
  readonly headerId: string | null;
  readonly close: () => Promise<void>;
}

export interface AuditedCopy {
  readonly log: AuditedLog;
  /** Which log its first event says it is; null for one that no release with identities has opened. */
  readonly log_id: string | null;
  readonly needs: ReadonlyMap<string, Need>;
  readonly total: number;
  /** The first of each check. */
  readonly findings: readonly Finding[];
}

export interface CopyAudit {
  readonly open: (path: string) => OpenedLog;
  readonly path: string;
  readonly seal?: Seal | undefined;
  /** Of which log the backup was made; undefined where its manifest is older than identities. */
  readonly log_id?: string | null | undefined;
  readonly signal: AbortSignal;
}

const KEEP = 5;

/** The log is the one that was backed up, and its file the one that it was written to. */
const tellOther = (
  findings: Findings,
  log_id: string | null,
  named: Readonly<Record<string, string | null | undefined>>,
): void => {
  for (const [by, due] of Object.entries(named))
    if (due !== undefined && due !== log_id)
      findings.add({
        check: 'seal',
        message: `This is another log than ${by} says.`,
        stream: LOG_STREAM,
        revision: '0',
        expected: due ?? 'a log without a name',
        found: log_id ?? 'a log without a name',
      });
};

/** Audits a copied log, and says which objects its events refer to. Throws when it is aborted. */
export const auditCopy = async ({
  open,
  path,
  seal,
  log_id: due,
  signal,
}: CopyAudit): Promise<AuditedCopy> => {
  const { feed, headerId, close } = open(path);
  const [needs, findings] = [objectNeeds(), findingsKept(KEEP)];
  try {
    const own = (await sealsInLog(feed)).map((made) => ({ seal: made.seal, from: SEALS_STREAM }));
    const given = seal === undefined ? own : [...own, { seal, from: 'the backup' }];
    const sealed = sealsCheck(findings, given);
    const watchers = [needs.watcher, sealed.watcher];
    const log_id = (await identityOf(feed)) ?? null;
    tellOther(findings, log_id, { 'the backup': due, "the file's header": headerId ?? undefined });
    const log = await auditLog({ feed, findings, dense: true, watchers, signal });
    sealed.finish(log);
    return {
      log,
      log_id,
      needs: needs.needs(),
      total: findings.total(),
      findings: findings.result().findings,
    };
  } finally {
    await close();
  }
};
