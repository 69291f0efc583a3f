import { useNavigate, useSearch } from '@tanstack/react-router';

/** What the page shows, as its address says it: a view can be sent to somebody. */
export interface AuditAddress {
  readonly tab?: string | undefined;
  readonly stream?: string | undefined;
  readonly tenant?: string | undefined;
  /** 'oldest', or the newest first. */
  readonly order?: string | undefined;
  /** Begins here: a revision where a stream is named, else a position. */
  readonly from?: string | undefined;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

/** The address, and a way to change several of its values at once. */
export const useAuditAddress = (): readonly [AuditAddress, (change: AuditAddress) => void] => {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (values: AuditAddress): void => {
    const next = (before: object): object => ({ ...before, ...values });
    void navigate({ to: '.', search: next, replace: true } as never);
  };
  const [tab, stream, tenant] = [textOf(search['tab']), textOf(search['stream']), textOf(search['tenant'])];
  return [{ tab, stream, tenant, order: textOf(search['order']), from: textOf(search['from']) }, change];
};
