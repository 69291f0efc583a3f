import type { ObjectStore } from '../../../domain/ports/services.ts';
import type { AuditReport } from '../../audit/runAudit.ts';

/** What an audit was asked to do: as the options of `quire audit`. */
export interface AuditOptions {
  /** Leaves the read models out. */
  readonly log_only: boolean;
  /** Keeps every finding, not only the first ones of each check. */
  readonly all: boolean;
  /** Writes findings into the log, so that webhooks of operators are told. */
  readonly tell: boolean;
}

/** How far an audit has read. */
export interface AuditProgress {
  readonly stage: 'starting' | 'reading_tables' | 'reading_log';
  readonly events: number;
  readonly position: string | null;
  /** Where the log ended when the audit began. */
  readonly end_position: string | null;
}

/** An audit as it is kept: it outlives the process that runs it. */
export interface AuditRecord extends AuditOptions, AuditProgress {
  readonly audit_id: string;
  readonly status: 'running' | 'succeeded' | 'failed' | 'cancelled' | 'interrupted';
  readonly started_at: string;
  readonly started_by: string;
  /** When its process last said that it runs. */
  readonly updated_at: string;
  readonly finished_at: string | null;
  readonly report: AuditReport | null;
  /** Why it could not be made. */
  readonly error: string | null;
}

const PREFIX = 'audits/';
const keyOf = (auditId: string): string => `${PREFIX}${auditId}`;

/** IDs hold the time, so the newest is the last. */
const AUDIT_ID = /^aud_[0-9A-Z]{26}$/;
/** Records that are kept. */
const KEPT = 100;

/** Audits by their ID, beside the uploads. */
export const auditShelf = (objects: Pick<ObjectStore, 'put' | 'get' | 'list' | 'remove'>) => {
  const ids = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const { key } of objects.list(PREFIX)) found.push(key.slice(PREFIX.length));
    return found
      .filter((id) => AUDIT_ID.test(id))
      .sort()
      .reverse();
  };
  const find = async (auditId: string): Promise<AuditRecord | undefined> => {
    if (!AUDIT_ID.test(auditId)) return undefined;
    const bytes = await objects.get(keyOf(auditId));
    return bytes && (JSON.parse(Buffer.from(bytes).toString()) as AuditRecord);
  };
  return {
    put: (record: AuditRecord): Promise<void> =>
      objects.put(keyOf(record.audit_id), Buffer.from(JSON.stringify(record))),
    find,
    /** Newest first. */
    ids,
    /** Removes the oldest where there are too many. */
    prune: async (): Promise<void> => {
      for (const id of (await ids()).slice(KEPT)) await objects.remove(keyOf(id));
    },
  };
};
