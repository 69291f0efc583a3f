import type { Webhook } from '@quire/client';
import { useState } from 'react';
import { type Pages, usePages } from '../../api/connection.ts';
import { faultOf } from '../../api/faults.ts';
import { useTenantId } from '../../api/session.ts';
import { webhooks as texts } from '../../texts/webhooks.ts';
import { Button } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/card.tsx';
import { columnsFor } from '../../ui/columns.tsx';
import { ForTenant } from '../../ui/forTenant.tsx';
import { useGo, useRest } from '../../ui/go.tsx';
import { Plus } from '../../ui/icons/icons.tsx';
import { SecretDialog } from '../../ui/secret.tsx';
import { Empty, ProblemNote } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { CreateWebhook } from './settings.tsx';
import { stateOf, WebhookState, WebhookView } from './webhook.tsx';

const of = columnsFor<Webhook, keyof typeof texts.columns>(texts.columns);

const COLUMNS: readonly Column<Webhook>[] = [
  of.text('url', ({ url }) => url, { share: 2.4 }),
  of.text('description', ({ description }) => description, { share: 1.4 }),
  of.text('events', ({ events }) => (events.includes('*') ? texts.all : events.join(', ')), { share: 1.6 }),
  of.text('state', (webhook) => texts.states[stateOf(webhook)], {
    isWhole: true,
    show: (webhook) => <WebhookState webhook={webhook} />,
  }),
  of.time('created', ({ created_at }) => created_at),
  of.time('changed', ({ updated_at }) => updated_at),
];

const SORTS = { created: 'created_at', changed: 'updated_at' } as const;

type Doing = { readonly what: 'create' } | { readonly what: 'show'; readonly secret: string };

interface DoingsProps {
  readonly doing: Doing | undefined;
  readonly onDo: (doing: Doing | undefined) => void;
}

function Doings({ doing, onDo }: DoingsProps) {
  if (doing === undefined) return null;
  const onClose = (): void => onDo(undefined);
  if (doing.what === 'create')
    return <CreateWebhook onClose={onClose} onIssued={(secret) => onDo({ what: 'show', secret })} />;
  const { secret } = texts;
  return <SecretDialog texts={secret} label={secret.label} secret={doing.secret} onStored={onClose} />;
}

/** A list that has nothing, and was not asked for some of it alone. */
const isEmpty = ({ items, asking }: Pages<Webhook>): boolean =>
  items?.length === 0 && asking?.wanted.q === '';

/** The webhooks of a tenant; each opens with its deliveries. */
function WebhookList() {
  const tenant_id = useTenantId();
  const go = useGo();
  const list = usePages('listWebhooks', { query: { tenant_id } }, { sorts: SORTS });
  const [doing, onDo] = useState<Doing>();
  // nobody has heard of a tenant before its first key
  const isNew = list.error !== null && faultOf(list.error).code === 'tenant_not_found';
  const isBroken = list.error !== null && !isNew;
  const create = (
    <Button look="primary" onClick={() => onDo({ what: 'create' })}>
      <Plus aria-hidden className="size-4" />
      {texts.open}
    </Button>
  );
  const isNone = isNew || isEmpty(list);
  return (
    <div className="flex flex-col gap-4">
      {isBroken && <ProblemNote error={list.error} onRetry={list.again} />}
      {isNone && (
        <Empty title={texts.empty.title} say={texts.empty.say}>
          {create}
        </Empty>
      )}
      {!isBroken && !isNone && (
        <>
          <div>{create}</div>
          <DataTable
            label={texts.list}
            columns={COLUMNS}
            list={list}
            idOf={({ webhook_id }) => webhook_id}
            onOpen={({ webhook_id }) => go(`/webhooks/${webhook_id}`)}
          />
        </>
      )}
      <Doings doing={doing} onDo={onDo} />
    </div>
  );
}

/** Webhooks: made, tested, and what became of each message. */
export default function WebhooksPage() {
  const webhookId = useRest();
  if (webhookId !== undefined) return <WebhookView key={webhookId} webhookId={webhookId} />;
  return (
    <>
      <PageHeader title={texts.title} say={texts.say} />
      <ForTenant>
        <WebhookList />
      </ForTenant>
    </>
  );
}
