import type { WebhookDelivery } from '@quire/client';
import { useState } from 'react';
import { toast } from 'sonner';
import { useChange, usePages } from '../../api/connection.ts';
import { shell, statusName } from '../../texts/shell.ts';
import { webhooks } from '../../texts/webhooks.ts';
import { Button } from '../../ui/button.tsx';
import { columnsFor } from '../../ui/columns.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useAddressValue } from '../../ui/go.tsx';
import { Select, statusChoices } from '../../ui/select.tsx';
import { Empty, ProblemNote, Status } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Copy, Time } from '../../ui/values.tsx';
import { useShownAgain } from './settings.tsx';

const texts = webhooks.deliveries;

/** What the receiver made of the last attempt, in words. */
const answerOf = ({ response_status, error }: WebhookDelivery): string | null => {
  const why = error === null ? null : webhooks.errors[error];
  if (response_status === null) return why;
  return why === null ? String(response_status) : `${String(response_status)}: ${why}`;
};

const of = columnsFor<WebhookDelivery, keyof typeof texts.columns>(texts.columns);

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  of.time('created', ({ created_at }) => created_at),
  of.text('event', ({ event }) => event, { share: 1.6 }),
  of.text('status', ({ status }) => statusName(status), {
    isWhole: true,
    show: ({ status }) => <Status status={status} />,
  }),
  of.count('attempts', ({ attempts }) => attempts, 0.8),
  of.text('answer', answerOf, { share: 1.8 }),
  of.time('last', ({ last_attempt_at }) => last_attempt_at),
  of.time('next', ({ next_attempt_at }) => next_attempt_at),
];

const SORTS = {
  created: 'created_at',
  event: 'event',
  status: 'status',
  attempts: 'attempts',
  last: 'last_attempt_at',
} as const;

const ALL = 'all';
const STATUSES = ['pending', 'delivered', 'failed'] as const;

interface OneProps {
  readonly delivery: WebhookDelivery;
  readonly onClose: () => void;
}

/** A message as it is sent, what became of it, and the way to send it again. */
function Delivery({ delivery, onClose }: OneProps) {
  const { delivery_id, webhook_id, event, event_id, status, attempts, delivered_at, payload } = delivery;
  const resend = useChange('resendWebhookDelivery');
  const again = useShownAgain();
  const send = async (): Promise<void> => {
    const path = { webhook_id, delivery_id };
    const sent = await resend.mutateAsync({ path }).catch(() => undefined); // the note says it
    if (sent === undefined) return;
    toast(texts.resent);
    onClose();
    await again();
  };
  const facts = [
    { name: texts.columns.status, value: statusName(status) },
    { name: texts.columns.attempts, value: String(attempts) },
    { name: texts.columns.answer, value: answerOf(delivery) ?? '–' },
    { name: texts.delivered, value: <Time at={delivered_at} /> },
  ];
  return (
    <Dialog isOpen isWide onOpenChange={onClose} title={texts.one(event)} say={texts.resendSay}>
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        {facts.map(({ name, value }) => (
          <div key={name}>
            <dt className="text-[13px] text-soft">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p className="text-[13px] wrap-anywhere text-soft">
        {texts.id} <code>{delivery_id}</code> <Copy text={delivery_id} /> {texts.eventId}{' '}
        <code>{event_id}</code> <Copy text={event_id} />
      </p>
      <pre
        aria-label={texts.message}
        tabIndex={0}
        className="max-h-72 overflow-auto rounded-md border border-line bg-sunken p-3 text-[13px]"
      >
        {JSON.stringify(payload, undefined, 2)}
      </pre>
      <ProblemNote error={resend.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.close}</Button>
        <Button look="primary" isBusy={resend.isPending} onClick={() => void send()}>
          {texts.resend}
        </Button>
      </div>
    </Dialog>
  );
}

/** A message that waits is sent within seconds, ms. */
const EACH_MS = 3_000;

/** What a webhook was told, newest first; read again while something waits. */
export function Deliveries({ webhookId }: { webhookId: string }) {
  const [asked, keep] = useAddressValue('status');
  const [shown, show] = useState<WebhookDelivery>();
  const [isWaiting, wait] = useState(false);
  const status = STATUSES.find((one) => one === asked);
  const list = usePages(
    'listWebhookDeliveries',
    { path: { webhook_id: webhookId }, query: status === undefined ? {} : { status } },
    { sorts: SORTS, refetchInterval: isWaiting ? EACH_MS : false },
  );
  const waits = list.items?.some((one) => one.status === 'pending') === true;
  if (waits !== isWaiting) wait(waits);
  return (
    <section className="flex flex-col gap-3">
      <h2 className="font-semibold">{texts.title}</h2>
      <ProblemNote error={list.error} onRetry={list.again} />
      {list.error === null && (
        <DataTable
          label={texts.title}
          columns={COLUMNS}
          list={list}
          idOf={({ delivery_id }) => delivery_id}
          onOpen={show}
          actions={
            <div className="w-36">
              <Select
                label={texts.status}
                choices={[{ value: ALL, name: texts.allStatuses }, ...statusChoices(STATUSES)]}
                value={status ?? ALL}
                onChange={(value) => keep(value === ALL ? undefined : value)}
              />
            </div>
          }
          empty={<Empty title={texts.empty.title} say={texts.empty.say} />}
        />
      )}
      {shown !== undefined && <Delivery delivery={shown} onClose={() => show(undefined)} />}
    </section>
  );
}
