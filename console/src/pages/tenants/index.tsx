import { useDeferredValue, useState } from 'react';
import type { TenantItem } from '@quire/client';
import { usePages } from '../../api/connection.ts';
import { tenants as texts } from '../../texts/tenants.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, ProblemNote } from '../../ui/states.tsx';
import { CONTROL } from '../../ui/style.ts';
import { columnsFor } from '../../ui/columns.tsx';
import { useGo, useRest } from '../../ui/go.tsx';
import { PageHeader } from '../../ui/card.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { PlanBadge } from './booked.tsx';
import { TenantAccount } from './account.tsx';

const of = columnsFor<TenantItem, keyof typeof texts.columns>(texts.columns);

const COLUMNS: readonly Column<TenantItem>[] = [
  of.tenant('tenant', ({ tenant_id }) => tenant_id),
  of.text('plan', ({ plan }) => plan, { share: 0.7, show: ({ plan }) => <PlanBadge plan={plan} /> }),
  of.count('balance', ({ balance_credits }) => balance_credits),
  of.count('held', ({ held_credits }) => held_credits),
  of.count('purchased', ({ total_credits_purchased }) => total_credits_purchased),
  of.count('used', ({ total_credits_used }) => total_credits_used),
  of.count('freePages', ({ free_pages_remaining }) => free_pages_remaining),
  of.time('active', ({ last_activity_at }) => last_activity_at),
];

const SORTS = {
  tenant: 'tenant_id',
  plan: 'plan',
  balance: 'balance_credits',
  held: 'held_credits',
  purchased: 'total_credits_purchased',
  used: 'total_credits_used',
  freePages: 'free_pages_remaining',
  active: 'last_activity_at',
} as const;

const TENANT_ID = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;

function OpenTenant() {
  const go = useGo();
  const [typed, type] = useState('');
  const isBad = typed !== '' && !TENANT_ID.test(typed);
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (TENANT_ID.test(typed)) go(`/tenants/${encodeURIComponent(typed)}`);
      }}
    >
      <input
        aria-label={texts.newId}
        placeholder={texts.newId}
        title={isBad ? texts.badId : texts.newTenantSay}
        aria-invalid={isBad}
        value={typed}
        onChange={({ target }) => type(target.value)}
        className={`${CONTROL} max-w-44`}
      />
      <Button type="submit">{texts.openNew}</Button>
    </form>
  );
}

/** All tenants, found by a part of their ID. */
function TenantList() {
  const go = useGo();
  const [typed, type] = useState('');
  const search = useDeferredValue(typed.trim());
  const list = usePages('listTenants', { query: search === '' ? {} : { search } }, { sorts: SORTS });
  const none =
    search === '' ? (
      <Empty title={texts.empty.title} say={texts.empty.say}>
        <OpenTenant />
      </Empty>
    ) : (
      <Empty title={texts.nothingFound} />
    );
  return (
    <>
      <PageHeader title={texts.title} say={texts.say}>
        <OpenTenant />
      </PageHeader>
      <div className="flex flex-col gap-4">
        <input
          type="search"
          aria-label={texts.search}
          placeholder={texts.search}
          value={typed}
          onChange={({ target }) => type(target.value)}
          className={`${CONTROL} max-w-80`}
        />
        <ProblemNote error={list.error} onRetry={list.again} />
        {list.error === null && (
          <DataTable
            label={texts.all}
            columns={COLUMNS}
            list={list}
            idOf={({ tenant_id }) => tenant_id}
            onOpen={({ tenant_id }) => go(`/tenants/${encodeURIComponent(tenant_id)}`)}
            height={640}
            isSearched
            empty={none}
          />
        )}
      </div>
    </>
  );
}

/** Tenants: all of them, or the account of one. */
export default function TenantsPage() {
  const tenantId = useRest();
  return tenantId === undefined ? <TenantList /> : <TenantAccount key={tenantId} tenantId={tenantId} />;
}
