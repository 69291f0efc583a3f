import { useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import { z } from 'zod';
import type { TenantRateLimitsResponse } from '@quire/client';
import { useChange, useRead } from '../../api/connection.ts';
import { tenants as texts } from '../../texts/tenants.ts';
import { Badge, Card } from '../../ui/card.tsx';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { EffectLine } from './booked.tsx';

const CLASSES = ['heavy', 'general'] as const;
const COUNT = z
  .string()
  .trim()
  .regex(/^([1-9]\d{0,8})?$/, texts.limits.whole);

const schema = z
  .object({ heavyRate: COUNT, heavyBurst: COUNT, generalRate: COUNT, generalBurst: COUNT })
  .superRefine((values, context) => {
    for (const name of CLASSES)
      if ((values[`${name}Rate`] === '') !== (values[`${name}Burst`] === ''))
        context.addIssue({ code: 'custom', path: [`${name}Burst`], message: texts.limits.both });
  });

type Values = z.infer<typeof schema>;

const initialOf = ({ override }: TenantRateLimitsResponse): Values => {
  const text = (value: number | undefined) => (value === undefined ? '' : String(value));
  return {
    heavyRate: text(override?.heavy?.rate_per_second),
    heavyBurst: text(override?.heavy?.burst),
    generalRate: text(override?.general?.rate_per_second),
    generalBurst: text(override?.general?.burst),
  };
};

const bucketOf = (rate: string, burst: string) =>
  rate === '' ? null : { rate_per_second: Number(rate), burst: Number(burst) };

function InForce({ limits }: { limits: TenantRateLimitsResponse }) {
  return (
    <Card title={texts.limits.now}>
      <dl className="flex flex-col gap-2">
        {CLASSES.map((name) => {
          const { rate_per_second, burst, source } = limits.effective[name];
          return (
            <EffectLine key={name} name={texts.limits.classes[name]}>
              {`${texts.limits.bucket(rate_per_second, burst)} `}
              <Badge tone={source === 'override' ? 'accent' : 'neutral'}>{texts.limits.source[source]}</Badge>
            </EffectLine>
          );
        })}
      </dl>
    </Card>
  );
}

/** The limits in force, and the tenant's own. */
export function Limits({ tenantId }: { tenantId: string }) {
  const path = { tenant_id: tenantId };
  const limits = useRead('getRateLimits', { path });
  const change = useChange('setRateLimits');
  const removal = useChange('deleteRateLimits');
  const cache = useQueryClient();
  const readAgain = () => cache.invalidateQueries({ queryKey: ['getRateLimits'] });
  if (limits.error !== null)
    return <ProblemNote error={limits.error} onRetry={() => void limits.refetch()} />;
  if (limits.data === undefined) return <Skeleton lines={4} />;
  const submit = async (values: Values): Promise<void> => {
    const body = {
      heavy: bucketOf(values.heavyRate, values.heavyBurst),
      general: bucketOf(values.generalRate, values.generalBurst),
    };
    await change.mutateAsync({ path, body }).then(
      () => toast.success(texts.limits.done),
      () => undefined,
    );
    await readAgain();
  };
  const remove = (): void =>
    removal.mutate(
      { path },
      {
        onSuccess: () => {
          toast.success(texts.limits.removed);
          void readAgain();
        },
      },
    );
  return (
    <div className="grid items-start gap-4 md:grid-cols-2">
      <InForce limits={limits.data} />
      <Card title={texts.limits.change}>
        <Form<Values>
          key={limits.data.updated_at ?? ''}
          schema={schema}
          initial={initialOf(limits.data)}
          onSubmit={submit}
        >
          <p className="text-soft">{texts.limits.say}</p>
          {CLASSES.map((name) => (
            <fieldset key={name} className="grid grid-cols-2 gap-4">
              <legend className="mb-1 text-[13px] text-soft">{texts.limits.classes[name]}</legend>
              <TextField name={`${name}Rate`} label={texts.limits.rate} />
              <TextField name={`${name}Burst`} label={texts.limits.burst} />
            </fieldset>
          ))}
          <ProblemNote error={change.error ?? removal.error} />
          <div className="flex flex-wrap justify-between gap-2">
            {limits.data.override === null ? (
              <span />
            ) : (
              <Button
                look="danger"
                title={texts.limits.removeSay}
                isBusy={removal.isPending}
                onClick={remove}
              >
                {texts.limits.remove}
              </Button>
            )}
            <Button look="primary" type="submit" isBusy={change.isPending}>
              {texts.limits.set}
            </Button>
          </div>
        </Form>
      </Card>
    </div>
  );
}
