import type { AuditedEvent } from '../log/auditedEvent.ts';

/** Who may move a piece of queued work, as its stream says. */
export interface AuditedLease {
  readonly id: string;
  readonly until: string;
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
 * The lease after an event. A claim needs a free one, so that no two workers have it at a time; all other moves
 * that name a lease need its owner.
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
    return lease_until === undefined ? lease : { id: lease_id, until: lease_until, held: gave_up == null };
  }
  if (lease !== null && lease.until > started_at) say(`${id} was claimed while another worker's lease ran.`);
  return { id: lease_id, until: lease_until ?? started_at, held: true };
};
