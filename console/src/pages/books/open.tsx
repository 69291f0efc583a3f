import type { OpenPayment } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import { csvOf, useChange, useRead } from '../../api/connection.ts';
import { books } from '../../texts/books.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/card.tsx';
import { columnsFor } from '../../ui/columns.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { Empty, ProblemNote } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';

const texts = books.open;

const schema = z.object({ reason: z.string().trim().min(1, texts.needsReason).max(500, texts.tooLong) });

interface ReleaseProps {
  readonly payment: OpenPayment;
  readonly onClose: () => void;
}

/** Gives a payment up, with a reason that stays in the log. */
function Release({ payment, onClose }: ReleaseProps) {
  const release = useChange('releaseOpenPayment');
  const cache = useQueryClient();
  const { provider, provider_txn_id } = payment;
  const send = async ({ reason }: z.infer<typeof schema>): Promise<void> => {
    const body = { provider, provider_txn_id, reason };
    const released = await release.mutateAsync({ body }).catch(() => undefined); // the note says it
    await cache.invalidateQueries({ queryKey: ['listOpenPayments'] });
    if (released === undefined) return;
    toast.success(texts.released);
    onClose();
  };
  return (
    <Dialog isOpen onOpenChange={onClose} title={texts.title(provider_txn_id)} say={texts.titleSay}>
      <Form schema={schema} initial={{ reason: '' }} onSubmit={send}>
        <TextField name="reason" label={texts.reason} say={texts.reasonSay} autoComplete="off" />
        <ProblemNote error={release.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{shell.cancel}</Button>
          <Button look="danger" type="submit" isBusy={release.isPending}>
            {texts.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

const of = columnsFor<OpenPayment, keyof typeof texts.columns>(texts.columns);

const columnsOf = (onRelease: (payment: OpenPayment) => void): readonly Column<OpenPayment>[] => [
  of.time('claimed', ({ claimed_at }) => claimed_at),
  of.tenant('tenant', ({ tenant_id }) => tenant_id),
  of.text('kind', ({ kind }) => texts.kinds[kind]),
  of.text('provider', ({ provider }) => provider),
  of.text('transaction', ({ provider_txn_id }) => provider_txn_id, { share: 1.8 }),
  of.text('credits', ({ credits }) => credits, { isNumber: true }),
  of.text('stuck', ({ stuck }) => texts.stuck[stuck ?? 'none'], {
    isWhole: true,
    share: 1.6,
    show: ({ stuck }) => (
      <Badge tone={stuck === null ? 'neutral' : 'bad'}>{texts.stuck[stuck ?? 'none']}</Badge>
    ),
  }),
  of.text('act', () => undefined, {
    isWhole: true,
    show: (payment) => (
      <Button
        size="small"
        look="quiet"
        aria-label={`${texts.release}: ${payment.provider_txn_id}`}
        onClick={() => onRelease(payment)}
      >
        {texts.release}
      </Button>
    ),
  }),
];

/** Payments that are claimed and neither booked nor released. */
export function OpenPayments() {
  const open = useRead('listOpenPayments');
  const [chosen, choose] = useState<OpenPayment>();
  if (open.error !== null) return <ProblemNote error={open.error} onRetry={() => void open.refetch()} />;
  return (
    <div className="flex flex-col gap-4">
      <p className="text-soft">{texts.say}</p>
      <DataTable
        label={books.tabs.open}
        columns={columnsOf(choose)}
        items={open.data?.items}
        idOf={({ provider, provider_txn_id }) => `${provider} ${provider_txn_id}`}
        csv={() => csvOf('listOpenPayments', {})}
        empty={<Empty title={texts.none.title} say={texts.none.say} />}
      />
      {chosen !== undefined && <Release payment={chosen} onClose={() => choose(undefined)} />}
    </div>
  );
}
