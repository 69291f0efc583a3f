import type { ReactNode } from 'react';
import { useFormContext, useWatch } from 'react-hook-form';
import { useBooking } from '../../../api/booking.ts';
import { tenants as texts } from '../../../texts/tenants.ts';
import { Button } from '../../../ui/button.tsx';
import { Form, TextField } from '../../../ui/form/form.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { majorText, minorOf } from '../../../ui/values/decimal.ts';
import { Credits, Money } from '../../../ui/values/numbers.tsx';
import { Booked } from '../parts/booked.tsx';
import { BalanceLine, Effect, EffectLine } from '../parts/effect.tsx';
import type { RefundableSale } from './refundable.ts';
import { ASKS, schemaOf, takenOf, WAYS, type RefundValues } from './refundValues.ts';
import type { Account } from './sell.tsx';

function Ways() {
  const { register } = useFormContext<RefundValues>();
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 font-medium">{texts.refund.way}</legend>
      {WAYS.map((way) => (
        <label key={way} className="flex items-start gap-2 rounded-md px-2 py-1 hover:bg-sunken">
          <input
            type="radio"
            value={way}
            {...register('way')}
            autoFocus={way === 'all'}
            className="mt-0.5 size-4 shrink-0 accent-(--accent)"
          />
          <span>
            {texts.refund.ways[way]}
            <span className="block text-[13px] text-soft">{texts.refund.waysSay[way]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function Amounts() {
  const { control } = useFormContext<RefundValues>();
  const asked = ASKS[useWatch({ control, name: 'way' })];
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {asked.money && <TextField name="amount" label={texts.refund.amount} placeholder="0.00" />}
      {asked.credits && <TextField name="credits" label={texts.refund.credits} placeholder="0" />}
      <TextField name="fee" label={texts.refund.fee} placeholder="0.00" />
    </div>
  );
}

function TooMany({ account, of }: { account: Account; of: RefundableSale }) {
  const { setValue } = useFormContext<RefundValues>();
  const available = Math.max(0, account.available);
  const takeFewer = (): void => {
    setValue('way', 'both');
    setValue('amount', majorText(of.left.gross, of.sale.currency));
    setValue('credits', String(Math.min(available, of.left.credits)));
  };
  return (
    <div role="alert" className="flex flex-col items-start gap-2 rounded-lg bg-warn-soft p-3 text-warn">
      {texts.refund.tooMany(available.toLocaleString('en'))}
      <Button size="small" onClick={takeFewer}>
        {texts.refund.takeFewer(available.toLocaleString('en'))}
      </Button>
    </div>
  );
}

function RefundEffect({ of, account }: { of: RefundableSale; account: Account }) {
  const { control } = useFormContext<RefundValues>();
  const taken = takenOf(of, useWatch({ control }));
  if (taken === undefined) return <Effect />;
  const { currency } = of.sale;
  return (
    <>
      <Effect>
        <EffectLine name={texts.effect.credits}>
          <Credits value={-taken.credits} />
        </EffectLine>
        <BalanceLine now={account.balance} change={-taken.credits} />
        <EffectLine name={texts.effect.money}>
          <Money amount={majorText(-taken.gross, currency)} currency={currency} />
        </EffectLine>
        <EffectLine name={texts.effect.vat}>
          <Money amount={majorText(-taken.vat, currency)} currency={currency} />
        </EffectLine>
      </Effect>
      {taken.credits > Math.max(0, account.available) && <TooMany account={account} of={of} />}
    </>
  );
}

function SaleLines({ of, children }: { of: RefundableSale; children: ReactNode }) {
  const { sale, left } = of;
  return (
    <div className="rounded-lg border border-line p-3">
      <div className="mb-1 flex flex-wrap items-center justify-between gap-2">
        <code className="break-all">{sale.provider_txn_id}</code>
        {children}
      </div>
      <dl className="flex flex-col gap-1">
        <EffectLine name={texts.refund.refundable}>
          <Money amount={majorText(left.gross, sale.currency)} currency={sale.currency} />
          {' · '}
          <Credits value={left.credits} unit={texts.stats.credits} />
        </EffectLine>
      </dl>
    </div>
  );
}

/** What goes into the request: members that the service derives are left out. */
const amountsOf = (of: RefundableSale, values: RefundValues) => {
  const { way } = values;
  const taken = takenOf(of, values);
  if (taken === undefined) return {};
  if (way === 'credits') return { credits: taken.credits };
  const money = { gross_amount_minor: taken.gross };
  if (way === 'money') return money;
  if (of.sale.gross_amount_minor === null || taken.gross === 0) return { credits: taken.credits };
  return { ...money, credits: taken.credits };
};

interface RefundFormProps {
  readonly of: RefundableSale;
  readonly account: Account;
  readonly onDone: () => void;
  /** Beside the sale. */
  readonly children: ReactNode;
}

/** What of one sale is given back, and what each choice does. */
export function RefundForm({ of, account, onDone, children }: RefundFormProps) {
  const refund = useBooking('refundCredits');
  const { sale } = of;
  const { data } = refund;
  if (data !== undefined)
    return (
      <Booked
        tenantId={account.tenantId}
        member="refund_id"
        value={data.refund_id}
        isNew={data.credited}
        onDone={onDone}
      >
        <EffectLine name={texts.effect.credits}>
          <Credits value={-Math.abs(data.credits)} />
        </EffectLine>
        <EffectLine name={texts.effect.money}>
          <Money
            amount={majorText(-Math.abs(data.gross_amount_minor), data.currency)}
            currency={data.currency}
          />
        </EffectLine>
        <EffectLine name={texts.effect.balance}>
          <Credits value={data.balance_credits} unit={texts.stats.credits} />
        </EffectLine>
      </Booked>
    );
  const submit = async (values: RefundValues): Promise<void> => {
    const body = {
      tenant_id: account.tenantId,
      provider: values.provider.trim(),
      provider_txn_id: values.transaction.trim(),
      original_provider: sale.provider,
      original_provider_txn_id: sale.provider_txn_id,
      currency: sale.currency,
      provider_fee_minor: minorOf(values.fee === '' ? '0' : values.fee, sale.currency) ?? 0,
      ...amountsOf(of, values),
      ...(values.reason === '' ? {} : { reason: values.reason }),
    };
    await refund.mutateAsync({ body }).catch(() => undefined);
  };
  return (
    <Form<RefundValues>
      schema={schemaOf(of)}
      initial={{
        way: 'all',
        amount: '',
        credits: '',
        fee: '',
        provider: sale.provider,
        transaction: `refund-${refund.identity}`,
        reason: '',
      }}
      onSubmit={submit}
    >
      <SaleLines of={of}>{children}</SaleLines>
      <Ways />
      <Amounts />
      <div className="grid gap-4 sm:grid-cols-[1fr_2fr]">
        <TextField name="provider" label={texts.refund.provider} />
        <TextField name="transaction" label={texts.refund.transaction} />
      </div>
      <TextField name="reason" label={texts.refund.reason} />
      <RefundEffect of={of} account={account} />
      <ProblemNote error={refund.error} />
      <Button look="danger" type="submit" className="self-end" aria-busy={refund.isPending}>
        {texts.refund.submit}
      </Button>
    </Form>
  );
}
