import { auditLog, type AuditedLog } from '../audit/log/auditLog.ts';
import { findingsKept, type Finding } from '../audit/findings.ts';
import { SEALS_STREAM } from '../../domain/kernel/ownStreams.ts';
import { sealsInLog } from '../audit/seals/sealsInLog.ts';
import type { Seal } from '../audit/seals/seal.ts';
import { sealsCheck } from '../audit/seals/sealCheck.ts';
import type { EventFeed } from '../../domain/ports/eventFeed.ts';
import { objectNeeds, type Need } from './objectNeeds.ts';

/** A log that was copied, opened for reading only. */
export interface OpenedLog {
  readonly feed: EventFeed;
  readonly close: () => Promise<void>;
}

export interface AuditedCopy {
  readonly log: AuditedLog;
  readonly needs: ReadonlyMap<string, Need>;
  readonly total: number;
  /** The first of each check. */
  readonly findings: readonly Finding[];
}

export interface CopyAudit {
  readonly open: (path: string) => OpenedLog;
  readonly path: string;
  readonly seal?: Seal | undefined;
  readonly signal: AbortSignal;
}

const KEEP = 5;

/** Audits a copied log, and says which objects its events refer to. Throws when it is aborted. */
export const auditCopy = async ({ open, path, seal, signal }: CopyAudit): Promise<AuditedCopy> => {
  const { feed, close } = open(path);
  const [needs, findings] = [objectNeeds(), findingsKept(KEEP)];
  try {
    const own = (await sealsInLog(feed)).map((made) => ({ seal: made.seal, from: SEALS_STREAM }));
    const given = seal === undefined ? own : [...own, { seal, from: 'the backup' }];
    const sealed = sealsCheck(findings, given);
    const watchers = [needs.watcher, sealed.watcher];
    const log = await auditLog({ feed, findings, dense: true, watchers, signal });
    sealed.finish(log);
    return { log, needs: needs.needs(), total: findings.total(), findings: findings.result().findings };
  } finally {
    await close();
  }
};
