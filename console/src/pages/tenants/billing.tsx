import type { BillingDetails } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import { z } from 'zod';
import { useChange, useRead } from '../../api/connection.ts';
import { tenants } from '../../texts/tenants.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Form, LinesField, TextField } from '../../ui/form.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';

const texts = tenants.billing;

const schema = z.object({
  legal_name: z.string().trim().min(1, tenants.faults.needed).max(200),
  address: z.string().trim().max(500),
  vat_id: z.string().trim().max(40),
  billing_email: z.union([z.literal(''), z.email(texts.noEmail)]),
});
type Values = z.infer<typeof schema>;

const initialOf = ({ legal_name, address, vat_id, billing_email }: BillingDetails): Values => ({
  legal_name: legal_name ?? '',
  address: address ?? '',
  vat_id: vat_id ?? '',
  billing_email: billing_email ?? '',
});

/** A field left empty is one that is printed no more. */
const orNone = (text: string): string | null => (text === '' ? null : text);

/** Since when the details hold, or that there are none, or that they were erased. */
function Standing({ details }: { details: BillingDetails }) {
  const { legal_name, updated_at, updated_by } = details;
  if (updated_at === null) return <p className="text-soft">{texts.none}</p>;
  return (
    <p className="break-words text-soft">
      {legal_name === null ? texts.erased : texts.since} <Time at={updated_at} />
      {updated_by !== null && ` ${texts.by} ${updated_by}`}
    </p>
  );
}

/** Who a tenant is on its statements and receipts: read and replaced. */
export function Billing({ tenantId }: { tenantId: string }) {
  const path = { tenant_id: tenantId };
  const read = useRead('getBillingDetails', { path });
  const change = useChange('setBillingDetails');
  const cache = useQueryClient();
  if (read.error !== null) return <ProblemNote error={read.error} onRetry={() => void read.refetch()} />;
  if (read.data === undefined) return <Skeleton lines={4} />;
  const submit = async ({ legal_name, ...others }: Values): Promise<void> => {
    const body = {
      legal_name,
      address: orNone(others.address),
      vat_id: orNone(others.vat_id),
      billing_email: orNone(others.billing_email),
    };
    const isDone = await change.mutateAsync({ path, body }).then(
      () => true,
      () => false,
    );
    if (!isDone) return;
    toast.success(texts.done);
    for (const name of ['getBillingDetails', 'getStatement', 'getReceipt'])
      await cache.invalidateQueries({ queryKey: [name] });
  };
  return (
    <Card title={texts.title} className="max-w-2xl">
      <Form<Values>
        key={read.data.updated_at ?? ''}
        schema={schema}
        initial={initialOf(read.data)}
        onSubmit={submit}
      >
        <Standing details={read.data} />
        <TextField name="legal_name" label={texts.name} />
        <LinesField name="address" label={texts.address} say={texts.addressSay} rows={4} />
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <TextField name="vat_id" label={texts.vatId} />
          <TextField name="billing_email" label={texts.email} say={texts.emailSay} type="email" />
        </div>
        <p className="text-soft">{texts.say}</p>
        <p className="text-soft">{texts.erasure}</p>
        <ProblemNote error={change.error} />
        <Button look="primary" type="submit" className="self-end" isBusy={change.isPending}>
          {texts.set}
        </Button>
      </Form>
    </Card>
  );
}
