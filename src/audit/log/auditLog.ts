import type { Findings } from '../findings.ts';
import { readThrough, type Reading } from './readThrough.ts';
import { chainsCheck, type AuditedLog, type StoredWatcher } from './chainsCheck.ts';
import { rulesCheck, type DecodedWatcher } from './rulesCheck.ts';

/** Something else that looks at every event of the same reading. */
export interface Watcher extends StoredWatcher, DecodedWatcher {}

export interface LogAudit extends Omit<Reading, 'upTo'> {
  readonly findings: Findings;
  /** Positions of this log have no gaps: it is the embedded one. */
  readonly dense: boolean;
  readonly watchers?: readonly Watcher[];
}

/** Reads the whole log once and checks all that events alone can tell. */
export const auditLog = async ({
  findings,
  dense,
  watchers = [],
  ...reading
}: LogAudit): Promise<AuditedLog> => {
  const chains = chainsCheck(findings, { dense, watchers });
  const rules = rulesCheck(findings, watchers);
  const { events, position } = await readThrough(reading, (recorded) => {
    chains.look(recorded);
    rules.look(recorded);
  });
  const { tenants, first_at, last_at } = rules.finish();
  const { streams, heads, digest } = chains.result();
  return { facts: { events, streams, tenants, position, first_at, last_at }, heads, digest };
};
