import type { BilledCustomer } from '@quire/client';
import type { ReactNode } from 'react';
import { useActing } from '../../api/session.ts';
import { statements } from '../../texts/statements.ts';
import { Go } from '../../ui/go.tsx';
import { Copy } from '../../ui/values.tsx';

const texts = statements.statement;

/** The way back: all months of the tenant and, for operators, its account. */
export function Above({ tenantId }: { tenantId: string }) {
  const { session } = useActing();
  const id = encodeURIComponent(tenantId);
  return (
    <p className="mb-1 flex flex-wrap gap-3 text-[13px]">
      <Go to={`/statements/${id}`}>{statements.back}</Go>
      {session.role === 'admin' && (
        <>
          <Go to={`/tenants/${id}`}>{`${statements.account} ${tenantId}`}</Go>
          <Go to={`/tenants/${id}?tab=billing`}>{statements.billing}</Go>
        </>
      )}
    </p>
  );
}

function Lines({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <h2 className="text-[13px] text-soft">{title}</h2>
      <div className="break-words whitespace-pre-line">{children}</div>
    </div>
  );
}

interface PartiesProps {
  readonly tenantId: string;
  readonly customer: BilledCustomer;
  readonly seller: readonly string[];
}

/** Who a statement or receipt is made out to, and who sells. */
export function Parties({ tenantId, customer, seller }: PartiesProps) {
  const { legal_name, address, vat_id, billing_email, status } = customer;
  const vat = vat_id === null ? null : texts.vatId(vat_id);
  const lines = [legal_name ?? tenantId, address, vat, billing_email].filter((line) => line !== null);
  return (
    <div className="grid gap-4 rounded-lg border border-line bg-surface p-4 sm:grid-cols-2">
      <Lines title={texts.to}>{status === 'erased' ? texts.erased : lines.join('\n')}</Lines>
      {seller.length > 0 && <Lines title={texts.from}>{seller.join('\n')}</Lines>}
    </div>
  );
}

/** By what a printed copy is held against the log. */
export function Proof({ position, digest }: { position: string | null; digest: string }) {
  return (
    <p className="text-[13px] text-soft">
      {texts.position} {position ?? '–'} · {texts.digest} <code className="break-all">{digest}</code>{' '}
      <Copy text={digest} />
    </p>
  );
}
