import { isProblem, type TenantInfoResponse } from '@quire/client';
import { useState } from 'react';
import { useActing } from '../../api/session.ts';
import { tenants as texts } from '../../texts/tenants.ts';
import { Button } from '../../ui/button.tsx';
import { useGo, Go, useAddressValue } from '../../ui/go.tsx';
import { useRead } from '../../api/connection.ts';
import { Empty, ProblemNote, Skeleton } from '../../ui/states.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { PageHeader, Stat } from '../../ui/card.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Credits } from '../../ui/values.tsx';
import { Adjust, SetPlan } from './adjust.tsx';
import { Billing } from './billing.tsx';
import { Refund } from './refund.tsx';
import { Sell, type Account } from './sell.tsx';
import { Grants, Ledger } from './ledger.tsx';
import { Limits } from './limits.tsx';
import { Erasure } from './erasure.tsx';
import { Retention } from './retention.tsx';
import { PlanBadge } from './booked.tsx';

/** Acts for this tenant on the page of keys. */
function KeysLink({ tenantId }: { tenantId: string }) {
  const { chooseTenant } = useActing();
  const go = useGo();
  return (
    <Button
      look="quiet"
      onClick={() => {
        chooseTenant(tenantId);
        go('/keys');
      }}
    >
      {texts.keys}
    </Button>
  );
}

const FORMS = { sell: Sell, refund: Refund, adjust: Adjust, plan: SetPlan } as const;
type Act = keyof typeof FORMS;

/** What is open over the page; each opening is a new form with an identity of its own. */
interface Opened {
  readonly act: Act;
  readonly grantId?: string;
}

function Acts({ account, opened, open }: ActsProps) {
  const acts: readonly Act[] =
    account.grants === 0 ? ['sell', 'adjust', 'plan'] : ['sell', 'refund', 'adjust', 'plan'];
  const Shown = opened === undefined ? undefined : FORMS[opened.act];
  return (
    <>
      {acts.map((act) => (
        <Button key={act} look={act === 'sell' ? 'primary' : 'plain'} onClick={() => open({ act })}>
          {texts[act].action}
        </Button>
      ))}
      <Dialog
        isOpen={opened !== undefined}
        onOpenChange={(isOpen) => {
          if (!isOpen) open(undefined);
        }}
        title={opened === undefined ? '' : `${texts[opened.act].title}: ${account.tenantId}`}
      >
        {Shown !== undefined && (
          <Shown account={account} onDone={() => open(undefined)} grantId={opened?.grantId} />
        )}
      </Dialog>
    </>
  );
}

interface ActsProps {
  readonly account: Account;
  readonly opened: Opened | undefined;
  readonly open: (opened: Opened | undefined) => void;
}

function Figures({ info }: { info: TenantInfoResponse }) {
  const credits = (value: number) => <Credits value={value} />;
  return (
    <div className="mb-6 grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-6">
      <Stat
        name={texts.stats.balance}
        value={credits(info.balance_credits)}
        say={texts.stats.held(info.held_credits.toLocaleString('en'))}
      />
      <Stat name={texts.stats.available} value={credits(info.available_credits)} />
      <Stat
        name={texts.stats.purchased}
        value={credits(info.total_credits_purchased)}
        say={texts.stats.net}
      />
      <Stat name={texts.stats.used} value={credits(info.total_credits_used)} />
      <Stat name={texts.stats.adjusted} value={credits(info.total_credits_adjusted)} />
      <Stat
        name={texts.stats.freePages}
        value={credits(info.free_pages.remaining)}
        say={texts.stats.of(info.free_pages.allowance.toLocaleString('en'))}
      />
    </div>
  );
}

const unopened = (tenantId: string): Account => ({
  tenantId,
  balance: 0,
  available: 0,
  plan: 'free',
  grants: 0,
});

const accountOf = (info: TenantInfoResponse): Account => ({
  tenantId: info.tenant_id,
  balance: info.balance_credits,
  available: info.available_credits,
  plan: info.plan,
  grants: info.grants_count,
});

interface PartsProps {
  readonly tenantId: string;
  readonly onRefund: (grantId: string) => void;
}

/** What an account has beside its figures. */
function Parts({ tenantId, onRefund }: PartsProps) {
  const [tab, chooseTab] = useAddressValue('tab');
  return (
    <Tabs
      label={texts.tabs.name}
      value={tab ?? 'ledger'}
      onChange={chooseTab}
      tabs={[
        { id: 'ledger', name: texts.tabs.ledger, content: <Ledger tenantId={tenantId} /> },
        {
          id: 'grants',
          name: texts.tabs.grants,
          content: <Grants tenantId={tenantId} onRefund={onRefund} />,
        },
        { id: 'billing', name: texts.tabs.billing, content: <Billing tenantId={tenantId} /> },
        {
          id: 'limits',
          name: texts.tabs.limits,
          content: <Limits tenantId={tenantId} />,
        },
        {
          id: 'data',
          name: texts.tabs.data,
          content: (
            <div className="flex flex-col gap-4">
              <Retention tenantId={tenantId} />
              <Erasure tenantId={tenantId} />
            </div>
          ),
        },
      ]}
    />
  );
}

/** The account of one tenant, and what an operator does with it. */
export function TenantAccount({ tenantId }: { tenantId: string }) {
  const info = useRead('getTenantInfo', { path: { tenant_id: tenantId } });
  const [opened, open] = useState<Opened>();
  const isUnknown = isProblem(info.error) && info.error.problem.code === 'tenant_not_found';
  const account = info.data !== undefined ? accountOf(info.data) : isUnknown ? unopened(tenantId) : undefined;
  return (
    <>
      <p className="mb-1 text-[13px]">
        <Go to="/tenants">{texts.back}</Go>
      </p>
      <PageHeader title={tenantId}>
        {info.data !== undefined && <PlanBadge plan={info.data.plan} />}
        <KeysLink tenantId={tenantId} />
        <Button look="quiet" asChild>
          <Go to={`/statements/${encodeURIComponent(tenantId)}`}>{texts.statements}</Go>
        </Button>
        <Button look="quiet" asChild>
          <Go to={`/audit?${new URLSearchParams({ stream: `account-${tenantId}` }).toString()}`}>
            {texts.audit}
          </Go>
        </Button>
        {account !== undefined && <Acts account={account} opened={opened} open={open} />}
      </PageHeader>
      {info.isPending && <Skeleton lines={3} className="h-16" />}
      {isUnknown && <Empty title={texts.unknown.title} say={texts.unknown.say} />}
      {!isUnknown && <ProblemNote error={info.error} onRetry={() => void info.refetch()} />}
      {info.data !== undefined && (
        <>
          <Figures info={info.data} />
          <Parts tenantId={tenantId} onRefund={(grantId) => open({ act: 'refund', grantId })} />
        </>
      )}
    </>
  );
}
