/** Bytes of bodies that tenants send at this moment. */
export interface BytesInFlight {
  /** Most bytes of one tenant; a body alone is always taken. */
  readonly max: number;
  /** undefined when the tenant has too much on its way. Call what it gives once the body is done with. */
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
