import { useFormContext, useWatch } from 'react-hook-form';
import { z } from 'zod';
import type { CreditPriceListResponse } from '@quire/client';
import { creditsFor, majorText, minorOf } from '../../ui/decimal.ts';
import { useBooking, useRead } from '../../api/connection.ts';
import { tenants as texts } from '../../texts/tenants.ts';
import { Button } from '../../ui/button.tsx';
import { Form, SelectField, TextField } from '../../ui/form.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { Credits, Money } from '../../ui/values.tsx';
import { Booked, BalanceLine, Becomes, Effect, EffectLine, PlanBadge, type Plan } from './booked.tsx';

/** What of a sale is left: the money in minor units of its currency. */
export interface Left {
  readonly credits: number;
  readonly gross: number;
  readonly vat: number;
}

/** A sale as it was, and what is left of it. */
export interface Refundable {
  readonly credits: number;
  readonly gross: number;
  readonly left: Left & { readonly fee: number };
}

const share = (whole: number, part: number, of: number): number =>
  of === 0 ? 0 : Number((BigInt(whole) * BigInt(part)) / BigInt(of));

/** What a refund of this much money takes back, as the service derives it: in proportion, at the end all the rest. */
export const takenFor = ({ credits, gross, left }: Refundable, vatOfSale: number, money: number): Left => {
  if (money > 0 && money === left.gross) return { credits: left.credits, gross: money, vat: left.vat };
  const vat = Math.min(left.vat, share(vatOfSale, money, gross));
  return {
    credits: Math.min(left.credits, share(credits, money, gross)),
    gross: money,
    vat: Math.min(money, left.vat, Math.max(vat, left.vat - (left.gross - money))),
  };
};

/** What is known of the account; a tenant without one has nothing yet. */
export interface Account {
  readonly tenantId: string;
  readonly balance: number;
  readonly available: number;
  readonly plan: Plan;
  readonly grants: number;
}

export interface FormProps {
  readonly account: Account;
  readonly onDone: () => void;
}

type Entry = CreditPriceListResponse['entries'][number];

interface Sale {
  readonly entry: Entry;
  readonly gross: number;
  readonly vat: number;
  readonly fee: number;
  readonly credits: number;
}

const schemaOf = (entries: readonly Entry[]) =>
  z
    .object({
      currency: z.string().refine((code) => entries.some(({ currency }) => currency === code)),
      gross: z.string(),
      vat: z.string(),
      fee: z.string(),
      provider: z.string().trim().min(1, texts.faults.needed),
      transaction: z.string().trim().min(1, texts.faults.needed),
      invoice: z.string(),
      note: z.string(),
    })
    .superRefine(({ currency, gross, vat, fee }, context) => {
      for (const [path, text] of Object.entries({ gross, vat, fee })) {
        const minor = minorOf(text === '' && path !== 'gross' ? '0' : text, currency);
        if (minor === undefined || (path === 'gross' && minor === 0))
          context.addIssue({ code: 'custom', path: [path], message: texts.faults.amount(currency) });
      }
      const [paid, tax] = [minorOf(gross, currency), minorOf(vat, currency)];
      if (paid !== undefined && tax !== undefined && tax >= paid)
        context.addIssue({ code: 'custom', path: ['vat'], message: texts.faults.vat });
    });

type Values = z.infer<ReturnType<typeof schemaOf>>;

/** Reads the form as a sale; undefined while it is not filled in. */
const saleOf = (entries: readonly Entry[], values: Partial<Values>): Sale | undefined => {
  const entry = entries.find(({ currency }) => currency === values.currency);
  if (entry === undefined) return undefined;
  const read = (text: string | undefined) =>
    minorOf(text === undefined || text === '' ? '0' : text, entry.currency);
  const [gross, vat, fee] = [read(values.gross), read(values.vat), read(values.fee)];
  if (gross === undefined || vat === undefined || fee === undefined) return undefined;
  const credits = creditsFor(entry, gross, vat);
  return credits === undefined ? undefined : { entry, gross, vat, fee, credits };
};

function SaleEffect({ entries, account }: { entries: readonly Entry[]; account: Account }) {
  const { control } = useFormContext<Values>();
  const sale = saleOf(entries, useWatch({ control }));
  if (sale === undefined) return <Effect />;
  const { entry, gross, vat, fee, credits } = sale;
  const { currency } = entry;
  const isFirst = account.plan === 'free' && account.grants === 0;
  return (
    <Effect>
      <EffectLine name={texts.effect.credits}>
        <Credits value={credits} />
      </EffectLine>
      <BalanceLine now={account.balance} change={credits} />
      <EffectLine name={texts.effect.money}>
        <Money amount={majorText(gross, currency)} currency={currency} />
      </EffectLine>
      <EffectLine name={texts.effect.net}>
        <Money amount={majorText(gross - vat - fee, currency)} currency={currency} />
      </EffectLine>
      {isFirst && (
        <EffectLine name={texts.effect.plan}>
          <Becomes now={<PlanBadge plan="free" />} then={<PlanBadge plan="paid" />} />
        </EffectLine>
      )}
    </Effect>
  );
}

function PriceLine({ list }: { list: CreditPriceListResponse }) {
  const { control } = useFormContext<Values>();
  const currency = useWatch({ control, name: 'currency' });
  const entry = list.entries.find((each) => each.currency === currency);
  if (entry === undefined) return null;
  return (
    <p className="-mt-2 text-[13px] text-soft">
      {texts.sell.price(`${entry.price_per_1000_credits} ${entry.currency}`, list.version)}{' '}
      {texts.sell.basis[entry.tax_basis]}
    </p>
  );
}

function SaleFields({ list }: { list: CreditPriceListResponse }) {
  const choices = list.entries.map(({ currency }) => ({ value: currency, name: currency }));
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField name="currency" label={texts.sell.currency} choices={choices} />
        <TextField name="gross" label={texts.sell.gross} placeholder="0.00" autoFocus />
        <TextField name="vat" label={texts.sell.vat} placeholder="0.00" />
        <TextField name="fee" label={texts.sell.fee} placeholder="0.00" />
      </div>
      <PriceLine list={list} />
      <div className="grid gap-4 sm:grid-cols-[1fr_2fr]">
        <TextField name="provider" label={texts.sell.provider} />
        <TextField name="transaction" label={texts.sell.transaction} say={texts.sell.transactionSay} />
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField name="invoice" label={texts.sell.invoice} />
        <TextField name="note" label={texts.sell.note} />
      </div>
    </>
  );
}

/** Records a sale; what is shown as the effect is what is sent, with the price list that it was computed by. */
export function Sell({ account, onDone }: FormProps) {
  const list = useRead('getAdminCreditPrices');
  const sale = useBooking('addCredits');
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={() => void list.refetch()} />;
  if (list.data === undefined) return <Skeleton lines={6} />;
  const { entries, version } = list.data;
  if (sale.data !== undefined)
    return (
      <Booked
        tenantId={account.tenantId}
        member="grant_id"
        value={sale.data.grant_id}
        isNew={sale.data.credited}
        onDone={onDone}
      >
        <EffectLine name={texts.effect.credits}>
          <Credits value={sale.data.credits} />
        </EffectLine>
        <EffectLine name={texts.effect.balance}>
          <Credits value={sale.data.balance_credits} unit={texts.stats.credits} />
        </EffectLine>
      </Booked>
    );
  const submit = async (values: Values): Promise<void> => {
    const read = saleOf(entries, values);
    if (read === undefined) return;
    const body = {
      tenant_id: account.tenantId,
      provider: values.provider.trim(),
      provider_txn_id: values.transaction.trim(),
      credits: read.credits,
      currency: read.entry.currency,
      gross_amount_minor: read.gross,
      vat_amount_minor: read.vat,
      provider_fee_minor: read.fee,
      price_list_version: version,
      ...(values.invoice === '' ? {} : { invoice_ref: values.invoice }),
      ...(values.note === '' ? {} : { note: values.note }),
    };
    await sale.mutateAsync({ body }).catch(() => undefined);
  };
  return (
    <Form<Values>
      schema={schemaOf(entries)}
      initial={{
        currency: entries[0]?.currency ?? '',
        gross: '',
        vat: '',
        fee: '',
        provider: 'manual',
        transaction: `sale-${sale.identity}`,
        invoice: '',
        note: '',
      }}
      onSubmit={submit}
    >
      <SaleFields list={list.data} />
      <SaleEffect entries={entries} account={account} />
      <ProblemNote error={sale.error} />
      <Button look="primary" type="submit" className="self-end" aria-busy={sale.isPending}>
        {texts.sell.submit}
      </Button>
    </Form>
  );
}
