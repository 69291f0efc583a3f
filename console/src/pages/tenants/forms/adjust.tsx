import { useFormContext, useWatch } from 'react-hook-form';
import { z } from 'zod';
import { useBooking } from '../../../api/booking.ts';
import { tenants as texts } from '../../../texts/tenants.ts';
import { Button } from '../../../ui/button.tsx';
import { Form, TextField } from '../../../ui/form/form.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { Credits } from '../../../ui/values/numbers.tsx';
import { Booked } from '../parts/booked.tsx';
import { BalanceLine, Effect, EffectLine } from '../parts/effect.tsx';
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
