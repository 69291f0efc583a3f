import { useState } from 'react';
import { useRead } from '../../api/hooks.ts';

/** The line below which a tenant's balance counts as low. */
export interface LowLine {
  /** 0: none. */
  readonly credits: number;
  /** False while the webhooks are read. */
  readonly isKnown: boolean;
  /** A webhook reports it; else it is this browser's own. */
  readonly isTold: boolean;
  readonly keep: (credits: number) => void;
}

const keyOf = (tenantId: string): string => `quire.low-line.${tenantId}`;

const keptOf = (tenantId: string): number => {
  const kept = Number(localStorage.getItem(keyOf(tenantId)) ?? 0);
  return Number.isSafeInteger(kept) && kept > 0 ? kept : 0;
};

/** The highest line that a webhook of the tenant reports; where none does, what was kept in this browser. */
export const useLowLine = (tenant_id: string): LowLine => {
  const { data } = useRead('listWebhooks', { query: { tenant_id } });
  const [kept, setKept] = useState({ tenant_id, credits: keptOf(tenant_id) });
  if (kept.tenant_id !== tenant_id) setKept({ tenant_id, credits: keptOf(tenant_id) });
  const told = (data?.items ?? [])
    .filter(({ enabled }) => enabled)
    .map(({ low_balance_credits }) => low_balance_credits ?? 0);
  const highest = Math.max(0, ...told);
  return {
    credits: highest > 0 ? highest : kept.credits,
    isKnown: data !== undefined,
    isTold: highest > 0,
    keep: (credits) => {
      if (credits > 0) localStorage.setItem(keyOf(tenant_id), String(credits));
      else localStorage.removeItem(keyOf(tenant_id));
      setKept({ tenant_id, credits });
    },
  };
};
