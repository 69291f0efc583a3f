import type { AuditedEvent } from '../log/auditedEvent.ts';

/** Who may move a piece of queued work, as its stream says. */
export interface AuditedLease {
  readonly id: string;
  readonly held: boolean;
}

/** What an event of queued work says of its lease; members that it does not have are undefined. */
interface Leasing {
  readonly lease_id?: string;
  readonly lease_until?: string;
  readonly started_at?: string;
  readonly gave_up?: string | null;
}

interface Moved {
  readonly event: AuditedEvent & { readonly data: Leasing };
  /** Of the work, for the sentence. */
  readonly id: string;
}

/**
 * The lease after an event. All moves that name a lease need its owner. A claim takes it from whoever had it: who may
 * do so has watched the lease by its own clock, so the times of two machines in the log prove nothing.
 */
export const leaseAfter = (
  lease: AuditedLease | null,
  { event, id }: Moved,
  say: (message: string) => void,
): AuditedLease | null => {
  const { lease_id, lease_until, started_at, gave_up } = event.data;
  if (lease_id === undefined) return lease;
  if (started_at === undefined) {
    if (lease?.held !== true || lease.id !== lease_id)
      say(`${id} was moved by a worker that does not own it.`);
    return lease_until === undefined ? lease : { id: lease_id, held: gave_up == null };
  }
  return { id: lease_id, held: true };
};
