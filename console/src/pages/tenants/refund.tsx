import type { GrantItem } from '@quire/client';
import { z } from 'zod';
import { useMemo, useState, type ReactNode } from 'react';
import { useFormContext, useWatch } from 'react-hook-form';
import { takenFor, type Refundable, type Left, type Account, type FormProps } from './sell.tsx';
import { tenants as texts } from '../../texts/tenants.ts';
import { minorOf, majorText } from '../../ui/decimal.ts';
import { useBooking, usePages } from '../../api/connection.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { ProblemNote, Empty } from '../../ui/states.tsx';
import { Credits, Money, Time } from '../../ui/values.tsx';
import { Booked, BalanceLine, Effect, EffectLine } from './booked.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';

/** A sale with what is left of it to refund. */
interface RefundableSale extends Refundable {
  readonly sale: GrantItem;
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + Math.abs(value), 0);

const leftOf = (sale: GrantItem, refunds: readonly GrantItem[]): RefundableSale => {
  const gross = sale.gross_amount_minor ?? 0;
  return {
    sale,
    credits: sale.credits,
    gross,
    left: {
      credits: sale.credits - Math.abs(sale.refunded_credits),
      gross: gross - Math.abs(sale.refunded_amount_minor),
      vat: sale.vat_amount_minor - sum(refunds.map(({ vat_amount_minor }) => vat_amount_minor)),
      fee: sale.provider_fee_minor - sum(refunds.map(({ provider_fee_minor }) => provider_fee_minor)),
    },
  };
};

/** Of grants as the service lists them, the sales that have anything left to refund. */
const refundableOf = (grants: readonly GrantItem[]): readonly RefundableSale[] => {
  const refunds = new Map<string, GrantItem[]>();
  for (const grant of grants)
    if (grant.original_grant_id !== null)
      refunds.set(grant.original_grant_id, [...(refunds.get(grant.original_grant_id) ?? []), grant]);
  return grants
    .filter(({ kind }) => kind === 'sale')
    .map((sale) => leftOf(sale, refunds.get(sale.grant_id) ?? []))
    .filter(({ left }) => left.credits > 0 || left.gross > 0);
};

const WAYS = ['all', 'money', 'credits', 'moneyAlone', 'both'] as const;
type Way = (typeof WAYS)[number];

/** Which of the two amounts a way of refunding asks for. */
const ASKS: Readonly<Record<Way, { readonly money: boolean; readonly credits: boolean }>> = {
  all: { money: false, credits: false },
  money: { money: true, credits: false },
  credits: { money: false, credits: true },
  moneyAlone: { money: true, credits: false },
  both: { money: true, credits: true },
};

const shape = z.object({
  way: z.enum(WAYS),
  amount: z.string(),
  credits: z.string(),
  fee: z.string(),
  provider: z.string().trim().min(1, texts.faults.needed),
  transaction: z.string().trim().min(1, texts.faults.needed),
  reason: z.string(),
});

type RefundValues = z.infer<typeof shape>;

const moneyOf = (text: string, most: number, currency: string): string | undefined => {
  const minor = minorOf(text === '' ? '0' : text, currency);
  if (minor === undefined) return texts.faults.amount(currency);
  return minor > most ? texts.faults.beyond : undefined;
};

const creditsOf = (text: string, most: number): string | undefined => {
  if (!/^\d{1,15}$/.test(text.trim())) return texts.faults.wholeCredits;
  return Number(text) > most ? texts.faults.beyond : undefined;
};

/** The form's rules for one sale. */
const schemaOf = ({ sale, left }: RefundableSale) =>
  shape.superRefine(({ way, amount, credits, fee }, context) => {
    const asked = ASKS[way];
    const isNothing = asked.money && (amount === '' || minorOf(amount, sale.currency) === 0);
    const faults = {
      amount: !asked.money
        ? undefined
        : isNothing
          ? texts.faults.amount(sale.currency)
          : moneyOf(amount, left.gross, sale.currency),
      credits: asked.credits ? creditsOf(credits, left.credits) : undefined,
      fee: moneyOf(fee, left.fee, sale.currency),
    };
    for (const [path, message] of Object.entries(faults))
      if (message !== undefined) context.addIssue({ code: 'custom', path: [path], message });
  });

const moneyIn = ({ way = 'all', amount = '' }: Partial<RefundValues>, of: RefundableSale) => {
  if (!ASKS[way].money) return way === 'all' ? of.left.gross : 0;
  const money = minorOf(amount, of.sale.currency);
  return money === 0 ? undefined : money;
};

const creditsIn = ({ way = 'all', credits = '' }: Partial<RefundValues>): number | undefined => {
  if (!ASKS[way].credits) return 0;
  return /^\d{1,15}$/.test(credits.trim()) ? Number(credits) : undefined;
};

/** What the refund takes back and pays; undefined while the form is not filled in. */
const takenOf = (of: RefundableSale, values: Partial<RefundValues>): Left | undefined => {
  const [money, credits] = [moneyIn(values, of), creditsIn(values)];
  if (money === undefined || credits === undefined) return undefined;
  const taken = takenFor(of, of.sale.vat_amount_minor, money);
  const { way = 'all' } = values;
  if (way === 'all') return { ...taken, credits: of.left.credits };
  return way === 'money' ? taken : { ...taken, credits };
};

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
function RefundForm({ of, account, onDone, children }: RefundFormProps) {
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

/** All of it fits into the dialog. */
const COLUMNS: readonly Column<RefundableSale>[] = [
  {
    id: 'occurred_at',
    name: texts.grants.when,
    value: ({ sale }) => sale.occurred_at,
    share: 1.5,
    show: ({ sale }) => <Time at={sale.occurred_at} />,
    isWhole: true,
  },
  {
    id: 'transaction',
    name: texts.grants.transaction,
    value: ({ sale }) => sale.provider_txn_id,
    share: 0.9,
  },
  {
    id: 'credits',
    name: texts.grants.credits,
    value: ({ left }) => left.credits,
    isNumber: true,
    share: 0.75,
    show: ({ left }) => <Credits value={left.credits} />,
  },
  {
    id: 'money',
    name: texts.refund.refundable,
    value: ({ sale, left }) => majorText(left.gross, sale.currency),
    isNumber: true,
    share: 0.95,
    show: ({ sale, left }) => (
      <Money amount={majorText(left.gross, sale.currency)} currency={sale.currency} />
    ),
  },
];

/** Refunds a sale: first which one, then what of it. */
export function Refund({ account, onDone, grantId }: FormProps & { grantId?: string | undefined }) {
  const grants = usePages('listGrants', { path: { tenant_id: account.tenantId } });
  const [chosen, choose] = useState(grantId);
  // once one is chosen its figures stay: the list is read again when it was refunded
  const [kept, keep] = useState<RefundableSale>();
  const sales = useMemo(
    () => (grants.items === undefined ? undefined : refundableOf(grants.items)),
    [grants.items],
  );
  if (grants.error !== null) return <ProblemNote error={grants.error} onRetry={grants.again} />;
  const found = kept ?? sales?.find(({ sale }) => sale.grant_id === chosen);
  if (found !== undefined) {
    if (kept === undefined) keep(found);
    return (
      <RefundForm of={found} account={account} onDone={onDone}>
        <Button
          look="quiet"
          size="small"
          onClick={() => {
            keep(undefined);
            choose(undefined);
          }}
        >
          {texts.refund.otherSale}
        </Button>
      </RefundForm>
    );
  }
  return (
    <div className="flex flex-col gap-2">
      <p className="text-soft">{texts.refund.choose}</p>
      <DataTable
        label={texts.refund.refundable}
        columns={COLUMNS}
        list={{ ...grants, items: sales, total: undefined }}
        idOf={({ sale }) => sale.grant_id}
        onOpen={keep}
        height={320}
        empty={<Empty title={texts.refund.none.title} say={texts.refund.none.say} />}
      />
    </div>
  );
}
