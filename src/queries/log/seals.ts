import { decodeAny } from '../../../domain/catalogue.ts';
import { SEALS_STREAM } from '../../../domain/kernel/json.ts';
import { digestOfSeal, type SealEvent } from '../../../domain/finding.ts';
import type { AuditRecord } from '../../commands/audits.ts';
import type { LogToRead } from './logEvents.ts';

/** What is known of a seal: `not_checked`: no audit that is kept has looked at it. */
type SealState = 'holds' | 'differs' | 'not_checked';

interface Checked {
  readonly audit_id: string | null;
  /** Up to which position seals were looked at. */
  readonly until: bigint;
  /** The first seal that differs; undefined: none. */
  readonly differsFrom: bigint | undefined;
}

/** What the last audit found of seals: one wrong breaks every later one. */
const checkedBy = (audit: AuditRecord | undefined): Checked => {
  const report = audit?.report;
  if (audit === undefined || report == null) return { audit_id: null, until: -1n, differsFrom: undefined };
  const places = report.findings
    .filter(({ check, position }) => check === 'seal' && position !== undefined)
    .map(({ position }) => BigInt(position ?? 0));
  const differsFrom = places.reduce<bigint | undefined>(
    (first, at) => (first === undefined || at < first ? at : first),
    undefined,
  );
  return { audit_id: audit.audit_id, until: BigInt(report.facts.position ?? -1), differsFrom };
};

const stateOf = (position: bigint, { until, differsFrom }: Checked): SealState => {
  if (position > until) return 'not_checked';
  return differsFrom !== undefined && position >= differsFrom ? 'differs' : 'holds';
};

/** Every seal of the log, newest first, with what the last audit said of it. */
export const sealList = async (log: Pick<LogToRead, 'read'>, audit: AuditRecord | undefined) => {
  const checked = checkedBy(audit);
  const seals: (SealEvent['data'] & { readonly revision: string })[] = [];
  for await (const recorded of log.read(SEALS_STREAM)) {
    const event = decodeAny(recorded);
    if (event.type === 'LogSealed') seals.push({ ...event.data, revision: recorded.revision.toString() });
  }
  const items = seals.map(({ seal, object, revision }, at) => {
    const before = seals[at - 1];
    const state = stateOf(BigInt(seal.position), checked);
    return {
      ...{ revision, position: seal.position, events: seal.events, made_at: seal.made_at },
      log_digest: seal.log_digest,
      continues: seal.previous === (before === undefined ? null : digestOfSeal(before.seal)),
      object_key: object?.key ?? null,
      retained_until: object?.retained_until ?? null,
      state,
      audit_id: state === 'not_checked' ? null : checked.audit_id,
    };
  });
  return items.reverse();
};
