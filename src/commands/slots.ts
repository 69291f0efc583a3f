/** Bytes of bodies that tenants send at this moment. */
export interface BytesInFlight {
  /** Most bytes of one tenant; a body alone is always taken. */
  readonly max: number;
  /** undefined if the tenant has too much in transit. Call the returned function once the body is done. */
  readonly take: (tenantId: string, bytes: number) => (() => void) | undefined;
}

/** Counts what may come, not what has come: a body without a length counts as the most that is read of it. */
export const bytesInFlight = (max: number): BytesInFlight => {
  const byTenant = new Map<string, number>();
  return {
    max,
    take: (tenantId, bytes) => {
      const before = byTenant.get(tenantId) ?? 0;
      if (before > 0 && before + bytes > max) return undefined;
      byTenant.set(tenantId, before + bytes);
      let taken = true;
      return () => {
        if (!taken) return;
        taken = false;
        const left = (byTenant.get(tenantId) ?? 0) - bytes;
        if (left > 0) byTenant.set(tenantId, left);
        else byTenant.delete(tenantId);
      };
    },
  };
};

/** Why a slot was not given: none is free, the tenant has its share, or the service is closing. */
export type SlotRefusal = 'full' | 'share' | 'closing';

/** Room for work that is heavy on the machine, shared fairly by tenants. */
export interface HeavySlots {
  /** undefined when the tenant gets none now. Call what it gives exactly once to free the slot. */
  readonly take: (tenantId: string) => (() => void) | undefined;
  readonly inUse: () => number;
  /** The slots of each tenant, the most first. */
  readonly holders: () => readonly { readonly tenant_id: string; readonly in_use: number }[];
  readonly max: number;
  /** From now on nothing is admitted. */
  readonly close: () => void;
}

/** Slots that only a tenant without one may take: an eighth, at least one, none if there is only one slot. */
export const reserveOf = (max: number): number => (max > 1 ? Math.ceil(max / 8) : 0);

/**
 * `max` slots. A tenant that has none gets one whenever any is free. A tenant that has some gets another
 * while both hold: a slot outside of the reserve is free, and it has less than its equal share of those,
 * which is their number divided by the tenants at work, rounded up. So a tenant alone has all but the
 * reserve, and the reserve lets the next one in at once; as slots are freed, shares become equal. Nothing is
 * taken back, and nobody waits: a refused caller asks again. `onRefused` is called at each refusal.
 */
export const heavySlots = (
  max: number,
  onRefused: (reason: SlotRefusal) => void = () => undefined,
): HeavySlots => {
  const open = max - reserveOf(max);
  const byTenant = new Map<string, number>();
  let inUse = 0;
  let closed = false;

  const refusal = (tenantId: string): SlotRefusal | undefined => {
    if (closed) return 'closing';
    if (inUse >= max) return 'full';
    const own = byTenant.get(tenantId) ?? 0;
    if (own === 0) return undefined;
    if (own >= Math.ceil(open / byTenant.size)) return 'share';
    return inUse >= open ? 'full' : undefined;
  };

  const free = (tenantId: string): void => {
    const left = (byTenant.get(tenantId) ?? 0) - 1;
    if (left > 0) byTenant.set(tenantId, left);
    else byTenant.delete(tenantId);
    inUse -= 1;
  };

  return {
    take: (tenantId) => {
      const refused = refusal(tenantId);
      if (refused !== undefined) {
        onRefused(refused);
        return undefined;
      }
      byTenant.set(tenantId, (byTenant.get(tenantId) ?? 0) + 1);
      inUse += 1;
      let taken = true;
      return () => {
        if (taken) free(tenantId);
        taken = false;
      };
    },
    inUse: () => inUse,
    holders: () =>
      [...byTenant]
        .map(([tenant_id, held]) => ({ tenant_id, in_use: held }))
        .sort((a, b) => b.in_use - a.in_use || (a.tenant_id < b.tenant_id ? -1 : 1)),
    max,
    close: () => {
      closed = true;
    },
  };
};
