import { Problem } from '../problems.ts';

/** Bytes of answers that wait for their callers to read them. */
export interface AnswersOut {
  /** Throws 429 where a tenant leaves as much unread as it may. */
  readonly check: (tenantId: string) => void;
  /** Call what it gives once they are read, or will not be. */
  readonly hold: (tenantId: string, bytes: number) => () => void;
}

/** Of one tenant: ten answers of the size that a long document has. */
const UNREAD_BYTES_MAX = 64 * 1_048_576;

const unread = (max: number): Problem =>
  new Problem('rate_limited', {
    detail: `${String(max)} bytes of answers to this tenant wait to be read: read them, or close their connections.`,
    members: { bucket: 'unread' },
    headers: { 'Retry-After': '1' },
  });

export const answersOut = (max = UNREAD_BYTES_MAX): AnswersOut => {
  const byTenant = new Map<string, number>();
  const add = (tenantId: string, bytes: number): void => {
    const now = (byTenant.get(tenantId) ?? 0) + bytes;
    if (now > 0) byTenant.set(tenantId, now);
    else byTenant.delete(tenantId);
  };
  return {
    check: (tenantId) => {
      if ((byTenant.get(tenantId) ?? 0) >= max) throw unread(max);
    },
    hold: (tenantId, bytes) => {
      add(tenantId, bytes);
      return () => add(tenantId, -bytes);
    },
  };
};
