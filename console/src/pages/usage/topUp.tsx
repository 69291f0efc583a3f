import type { Api } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useFormContext, useWatch } from 'react-hook-form';
import { toast } from 'sonner';
import { z } from 'zod';
import { useChange, usePages, useRead } from '../../api/connection.ts';
import { useActing, useTenantId } from '../../api/session.ts';
import { usage } from '../../texts/usage.ts';
import { Button } from '../../ui/button.tsx';
import { Badge, Card } from '../../ui/card.tsx';
import { creditsIn, majorText, priceOf, shortText } from '../../ui/decimal.ts';
import { Form, SelectField, TextField } from '../../ui/form.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { Credits, groupedText, Money, Time } from '../../ui/values.tsx';

const { topUp: texts } = usage;
const { fields } = texts;

type TopUp = Awaited<ReturnType<Api['getTopUp']>>;
type Prices = Awaited<ReturnType<Api['getCreditPrices']>>['entries'];

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap justify-between gap-x-4">
      <dt className="text-soft">{name}</dt>
      <dd className="ml-auto text-right font-medium break-all">{children}</dd>
    </div>
  );
}

/** Consent, threshold and maximum as they are set, and whether a top-up is due by them. */
function Setting({ set }: { set: TopUp }) {
  const { active, threshold_credits, credits, monthly_credits_max: most, balance_credits: balance } = set;
  if (threshold_credits === null || credits === null || most === null)
    return <p className="text-soft">{texts.never}</p>;
  const isDue = active && balance < threshold_credits;
  return (
    <>
      <p>{texts.rule(credits, threshold_credits, most)}</p>
      <dl className="flex flex-col gap-2">
        <Line name={texts.lines.balance}>
          <Credits value={balance} />
        </Line>
        <Line name={texts.lines.currency}>{set.currency}</Line>
        <Line name={texts.lines.payer}>{set.payer ?? '–'}</Line>
        <Line name={texts.lines.method}>{set.payment_method ?? '–'}</Line>
        <Line name={texts.lines.consented}>
          <Time at={set.consented_at} />
        </Line>
        <Line name={texts.lines.changed}>
          <Time at={set.updated_at} />
        </Line>
      </dl>
      {isDue ? (
        <p role="status" className="rounded-lg bg-warn-soft p-3 text-warn">
          {texts.due}
        </p>
      ) : (
        active && <p className="text-soft">{texts.notDue(balance - threshold_credits + 1)}</p>
      )}
    </>
  );
}

/** What became of the latest top-up that was due. */
function LastAttempt({ last_attempt: last }: TopUp) {
  if (last === null) return <p className="text-soft">{texts.noAttempt}</p>;
  const { outcome, reason, attempted_at, next_attempt_at, provider_txn_id } = last;
  return (
    <>
      <p className={outcome === 'charged' ? undefined : 'text-warn'}>
        {texts.outcomes[outcome]}
        {reason !== null && ` (${reason.replaceAll('_', ' ')})`}
      </p>
      <dl className="mt-2 flex flex-col gap-2">
        <Line name={usage.columns.time}>
          <Time at={attempted_at} />
        </Line>
        {outcome !== 'charged' && (
          <Line name={texts.again}>
            {next_attempt_at === null ? texts.notAgain : <Time at={next_attempt_at} />}
          </Line>
        )}
        {provider_txn_id !== null && <Line name={usage.columns.transaction}>{provider_txn_id}</Line>}
      </dl>
      <p className="mt-3 text-[13px] text-soft">{texts.attempts}</p>
    </>
  );
}

/** The latest purchase, however it was made: a top-up that succeeded is one. */
function LastPurchase() {
  const tenant_id = useTenantId();
  const { items } = usePages('listGrants', { path: { tenant_id } });
  const last = items?.find(({ kind }) => kind === 'sale');
  if (items === undefined) return <Skeleton lines={2} />;
  if (last === undefined) return <p className="text-soft">{usage.noGrants.title}</p>;
  const { credits, gross_amount_minor: minor, currency, occurred_at, provider, provider_txn_id } = last;
  return (
    <dl className="flex flex-col gap-2">
      <Line name={usage.columns.time}>
        <Time at={occurred_at} />
      </Line>
      <Line name={usage.columns.credits}>
        <Credits value={credits} />
      </Line>
      <Line name={usage.columns.amount}>
        {minor === null ? '–' : <Money amount={majorText(minor, currency)} currency={currency} />}
      </Line>
      <Line name={usage.columns.transaction}>{`${provider} ${provider_txn_id}`}</Line>
    </dl>
  );
}

const CREDITS = z.string().refine((text) => (creditsIn(text) ?? 0) >= 1, fields.noCredits);
const NAME = z.string().trim().max(255, fields.noName);

const schema = z
  .object({
    threshold: CREDITS,
    credits: CREDITS,
    most: CREDITS,
    currency: z.string().min(1, fields.noCurrency),
    payer: NAME,
    method: NAME,
    isAgreed: z.boolean().refine((is) => is, fields.notAgreed),
  })
  .superRefine(({ credits, most }, context) => {
    if ((creditsIn(credits) ?? 0) > (creditsIn(most) ?? 0))
      context.addIssue({ code: 'custom', path: ['most'], message: fields.lessThanCredits });
  });
type Values = z.infer<typeof schema>;

const textIn = (credits: number | null): string => credits?.toLocaleString('en') ?? '';

const initialOf = (set: TopUp, prices: Prices): Values => ({
  threshold: textIn(set.threshold_credits),
  credits: textIn(set.credits),
  most: textIn(set.monthly_credits_max),
  currency: set.currency ?? prices[0]?.currency ?? '',
  payer: set.payer ?? '',
  method: set.payment_method ?? '',
  isAgreed: false,
});

/** What credits cost by the price list of now, in words; undefined: it has no price in the currency. */
const priceWords = (prices: Prices, currency: string, credits: number): string | undefined => {
  const entry = prices.find((one) => one.currency === currency);
  const price = entry && priceOf(entry, credits);
  return entry && price && texts.price(groupedText(shortText(price, currency)), currency, entry.tax_basis);
};

/** The sentence that is agreed to, with the figures as they are typed. */
function Consent({ prices }: { prices: Prices }) {
  const { control, register, getFieldState, formState } = useFormContext<Values>();
  const { threshold = '', credits = '', most = '', currency = '' } = useWatch({ control });
  const { error } = getFieldState('isAgreed', formState);
  const bought = creditsIn(credits);
  const price = bought === undefined ? undefined : priceWords(prices, currency, bought);
  return (
    <div className="flex flex-col gap-1">
      <label className="flex items-start gap-2">
        <input
          type="checkbox"
          {...register('isAgreed')}
          aria-invalid={error !== undefined}
          className="mt-0.5 size-4 shrink-0 accent-(--accent)"
        />
        <span>{texts.agree({ credits, threshold, most, price })}</span>
      </label>
      {bought !== undefined && price === undefined && (
        <p className="text-[13px] text-warn">{texts.noPrice(currency)}</p>
      )}
      {error !== undefined && (
        <p role="alert" className="text-[13px] text-bad">
          {error.message}
        </p>
      )}
    </div>
  );
}

interface FormProps {
  readonly set: TopUp;
  readonly prices: Prices;
}

/** Sets figures and gives the consent; operators alone name who pays. */
function SettingForm({ set, prices }: FormProps) {
  const tenant_id = useTenantId();
  const { session } = useActing();
  const isAdmin = session.role === 'admin';
  const change = useChange('setTopUp');
  const cache = useQueryClient();
  const send = (body: Parameters<typeof change.mutateAsync>[0]['body'], done: string): Promise<void> =>
    change.mutateAsync({ path: { tenant_id }, body }).then(
      () => {
        toast.success(done);
        return cache.invalidateQueries({ queryKey: ['getTopUp'] });
      },
      () => undefined,
    );
  const submit = ({ threshold, credits, most, currency, payer, method }: Values): Promise<void> => {
    const figures = {
      active: true,
      threshold_credits: creditsIn(threshold) ?? 0,
      credits: creditsIn(credits) ?? 0,
      monthly_credits_max: creditsIn(most) ?? 0,
      currency,
    };
    const named = { payer: payer.trim() || null, payment_method: method.trim() || null };
    return send(isAdmin ? { ...figures, ...named } : figures, texts.done);
  };
  const { active, threshold_credits, credits, currency, monthly_credits_max } = set;
  const withdraw = (): void => {
    if (threshold_credits === null || credits === null || currency === null || monthly_credits_max === null)
      return;
    const figures = { threshold_credits, credits, currency, monthly_credits_max };
    void send({ active: false, ...figures }, texts.withdrawn);
  };
  const currencies = [
    ...new Set([...(currency === null ? [] : [currency]), ...prices.map((one) => one.currency)]),
  ];
  return (
    <Form<Values>
      key={set.updated_at ?? ''}
      schema={schema}
      initial={initialOf(set, prices)}
      onSubmit={submit}
    >
      <TextField name="threshold" label={fields.threshold} autoComplete="off" />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField name="credits" label={fields.credits} autoComplete="off" />
        <SelectField
          name="currency"
          label={fields.currency}
          choices={currencies.map((value) => ({ value, name: value }))}
        />
      </div>
      <TextField name="most" label={fields.most} say={fields.mostSay} autoComplete="off" />
      {isAdmin && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField name="payer" label={fields.payer} autoComplete="off" />
          <TextField name="method" label={fields.method} autoComplete="off" />
        </div>
      )}
      <Consent prices={prices} />
      <ProblemNote error={change.error} />
      <div className="flex flex-wrap justify-between gap-2">
        {active ? (
          <Button look="danger" isBusy={change.isPending} onClick={withdraw}>
            {texts.withdraw}
          </Button>
        ) : (
          <span />
        )}
        <Button look="primary" type="submit" isBusy={change.isPending}>
          {active ? texts.save : texts.give}
        </Button>
      </div>
    </Form>
  );
}

/** The consent, what became of it, and the form. */
function Parts({ set, prices }: FormProps) {
  const { session } = useActing();
  const state = set.active ? 'on' : set.updated_at === null ? 'never' : 'off';
  // Who pays is an operator's to say, and so is a consent that was taken back.
  const mayGive = session.role === 'admin' || set.active;
  return (
    <div className="grid items-start gap-4 xl:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-4">
        <Card
          title={texts.title}
          actions={<Badge tone={state === 'on' ? 'good' : 'neutral'}>{texts.states[state]}</Badge>}
        >
          <div className="flex flex-col gap-3">
            <Setting set={set} />
          </div>
        </Card>
        {set.updated_at !== null && (
          <Card title={texts.attempt}>
            <LastAttempt {...set} />
          </Card>
        )}
        <Card title={texts.last}>
          <LastPurchase />
        </Card>
      </div>
      <Card title={texts.change}>
        {mayGive ? (
          <SettingForm set={set} prices={prices} />
        ) : (
          <p className="text-soft">{texts.askOperator}</p>
        )}
      </Card>
    </div>
  );
}

/** Top-ups: the payer's consent, its figures, and what became of it. */
export function TopUps() {
  const tenant_id = useTenantId();
  const set = useRead('getTopUp', { path: { tenant_id } });
  const prices = useRead('getCreditPrices');
  const broken = [set, prices].find(({ error }) => error !== null);
  if (broken !== undefined) return <ProblemNote error={broken.error} onRetry={() => void broken.refetch()} />;
  if (set.data === undefined || prices.data === undefined) return <Skeleton lines={6} className="h-8" />;
  return <Parts set={set.data} prices={prices.data.entries} />;
}
