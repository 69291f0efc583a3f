import { useFormContext, useWatch } from 'react-hook-form';
import { z } from 'zod';
import { useBooking } from '../../api/connection.ts';
import { tenants as texts } from '../../texts/tenants.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField, SelectField } from '../../ui/form.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { Credits } from '../../ui/values.tsx';
import { Booked, BalanceLine, Effect, EffectLine, Becomes, PlanBadge } from './booked.tsx';
import type { Account, FormProps } from './sell.tsx';

const WHOLE = /^[-−+]?\d{1,15}$/;
const countOf = (text: string): number => Number(text.replace('−', '-'));

const adjustSchema = z.object({
  credits: z
    .string()
    .trim()
    .regex(WHOLE, texts.faults.wholeCredits)
    .refine((text) => countOf(text) !== 0, texts.faults.zero),
  reason: z.string().trim().min(1, texts.faults.needed),
  mayBeNegative: z.boolean(),
});

type AdjustValues = z.infer<typeof adjustSchema>;

function AdjustEffect({ account }: { account: Account }) {
  const { control } = useFormContext<AdjustValues>();
  const { credits = '', mayBeNegative = false } = useWatch({ control });
  const text = credits.trim();
  if (!WHOLE.test(text) || countOf(text) === 0) return <Effect />;
  const change = countOf(text);
  return (
    <>
      <Effect>
        <BalanceLine now={account.balance} change={change} />
        <EffectLine name={texts.effect.money}>–</EffectLine>
      </Effect>
      {account.available + change < 0 && change < 0 && !mayBeNegative && (
        <p className="rounded-lg bg-warn-soft p-3 text-warn">{texts.adjust.below}</p>
      )}
    </>
  );
}

function MayBeNegative() {
  const { register } = useFormContext<AdjustValues>();
  return (
    <label className="flex items-center gap-2">
      <input type="checkbox" {...register('mayBeNegative')} className="size-4 accent-(--accent)" />
      {texts.adjust.negative}
    </label>
  );
}

/** Gives credits or claws them back, with a reason. */
export function Adjust({ account, onDone }: FormProps) {
  const adjustment = useBooking('adjustCredits');
  const { data } = adjustment;
  if (data !== undefined)
    return (
      <Booked
        tenantId={account.tenantId}
        member="adjustment_id"
        value={data.adjustment_id}
        isNew={data.credited}
        onDone={onDone}
      >
        <EffectLine name={texts.effect.credits}>
          <Credits value={data.credits} />
        </EffectLine>
        <EffectLine name={texts.effect.balance}>
          <Credits value={data.balance_credits} unit={texts.stats.credits} />
        </EffectLine>
      </Booked>
    );
  const submit = async ({ credits, reason, mayBeNegative }: AdjustValues): Promise<void> => {
    const body = { credits: countOf(credits.trim()), reason: reason.trim(), allow_negative: mayBeNegative };
    await adjustment.mutateAsync({ path: { tenant_id: account.tenantId }, body }).catch(() => undefined);
  };
  return (
    <Form<AdjustValues>
      schema={adjustSchema}
      initial={{ credits: '', reason: '', mayBeNegative: false }}
      onSubmit={submit}
    >
      <p className="text-soft">{texts.adjust.say}</p>
      <TextField name="credits" label={texts.adjust.credits} placeholder="500" autoFocus />
      <TextField name="reason" label={texts.adjust.reason} say={texts.adjust.reasonSay} />
      <MayBeNegative />
      <AdjustEffect account={account} />
      <ProblemNote error={adjustment.error} />
      <Button look="primary" type="submit" className="self-end" aria-busy={adjustment.isPending}>
        {texts.adjust.submit}
      </Button>
    </Form>
  );
}

const planSchema = z.object({ plan: z.enum(['free', 'paid', 'enterprise']), reason: z.string() });
type PlanValues = z.infer<typeof planSchema>;

const CHOICES = planSchema.shape.plan.options.map((value) => ({ value, name: texts.plan.names[value] }));

function PlanEffect({ account }: { account: Account }) {
  const { control } = useFormContext<PlanValues>();
  const { plan = account.plan } = useWatch({ control });
  if (plan === account.plan) return <p className="text-soft">{texts.plan.same}</p>;
  return (
    <Effect>
      <EffectLine name={texts.effect.plan}>
        <Becomes now={<PlanBadge plan={account.plan} />} then={<PlanBadge plan={plan} />} />
      </EffectLine>
    </Effect>
  );
}

/** Sets the plan of a tenant. */
export function SetPlan({ account, onDone }: FormProps) {
  const change = useBooking('setPlan');
  const { data } = change;
  if (data !== undefined)
    return (
      <Booked
        tenantId={account.tenantId}
        member="set_at"
        value={data.set_at}
        isNew={data.changed}
        onDone={onDone}
      >
        <EffectLine name={texts.effect.plan}>
          <Becomes now={<PlanBadge plan={data.previous_plan} />} then={<PlanBadge plan={data.plan} />} />
        </EffectLine>
      </Booked>
    );
  const submit = async ({ plan, reason }: PlanValues): Promise<void> => {
    const body = { plan, ...(reason === '' ? {} : { reason }) };
    await change.mutateAsync({ path: { tenant_id: account.tenantId }, body }).catch(() => undefined);
  };
  return (
    <Form<PlanValues> schema={planSchema} initial={{ plan: account.plan, reason: '' }} onSubmit={submit}>
      <p className="text-soft">{texts.plan.say}</p>
      <SelectField name="plan" label={texts.plan.plan} choices={CHOICES} />
      <TextField name="reason" label={texts.plan.reason} />
      <PlanEffect account={account} />
      <ProblemNote error={change.error} />
      <Button look="primary" type="submit" className="self-end" aria-busy={change.isPending}>
        {texts.plan.submit}
      </Button>
    </Form>
  );
}
