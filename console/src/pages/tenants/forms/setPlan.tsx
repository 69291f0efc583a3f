import { useFormContext, useWatch } from 'react-hook-form';
import { z } from 'zod';
import { useBooking } from '../../../api/booking.ts';
import { tenants as texts } from '../../../texts/tenants.ts';
import { Button } from '../../../ui/button.tsx';
import { Form, SelectField, TextField } from '../../../ui/form/form.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { Booked } from '../parts/booked.tsx';
import { Becomes, Effect, EffectLine } from '../parts/effect.tsx';
import { PlanBadge } from '../parts/planBadge.tsx';
import type { Account, FormProps } from './sell.tsx';

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
