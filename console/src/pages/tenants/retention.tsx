import { useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import { z } from 'zod';
import type { TenantRetentionResponse } from '@quire/client';
import { useChange, useRead } from '../../api/connection.ts';
import { tenants as texts } from '../../texts/tenants.ts';
import { Badge, Card } from '../../ui/card.tsx';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { EffectLine } from './booked.tsx';

const CLASSES = ['uploads', 'results', 'examples', 'deliveries'] as const;
const DAYS = z
  .string()
  .trim()
  .regex(/^([1-9]\d{0,4})?$/, texts.limits.whole);

const schema = z.object({ uploads: DAYS, results: DAYS, examples: DAYS, deliveries: DAYS });
type Values = z.infer<typeof schema>;

const initialOf = ({ own_days }: TenantRetentionResponse): Values => {
  const text = (name: (typeof CLASSES)[number]) => String(own_days?.[name] ?? '');
  return {
    uploads: text('uploads'),
    results: text('results'),
    examples: text('examples'),
    deliveries: text('deliveries'),
  };
};

const daysOf = (text: string): number | null => (text === '' ? null : Number(text));

/** For how long things of the tenant are kept, and the days of its own. */
export function Retention({ tenantId }: { tenantId: string }) {
  const path = { tenant_id: tenantId };
  const kept = useRead('getRetention', { path });
  const change = useChange('setRetention');
  const cache = useQueryClient();
  if (kept.error !== null) return <ProblemNote error={kept.error} onRetry={() => void kept.refetch()} />;
  if (kept.data === undefined) return <Skeleton lines={4} />;
  const { days, own_days, updated_at } = kept.data;
  const submit = async (values: Values): Promise<void> => {
    const wanted = {
      uploads: daysOf(values.uploads),
      results: daysOf(values.results),
      examples: daysOf(values.examples),
      deliveries: daysOf(values.deliveries),
    };
    await change.mutateAsync({ path, body: { days: wanted } }).then(
      () => toast.success(texts.retention.done),
      () => undefined,
    );
    await cache.invalidateQueries({ queryKey: ['getRetention'] });
  };
  return (
    <div className="grid items-start gap-4 md:grid-cols-2">
      <Card title={texts.retention.now}>
        <dl className="flex flex-col gap-2">
          {CLASSES.map((name) => (
            <EffectLine key={name} name={texts.retention.classes[name]}>
              {`${texts.retention.days(days[name])} `}
              {(own_days?.[name] ?? null) !== null && <Badge tone="accent">{texts.retention.own}</Badge>}
            </EffectLine>
          ))}
        </dl>
      </Card>
      <Card title={texts.retention.change}>
        <Form<Values> key={updated_at ?? ''} schema={schema} initial={initialOf(kept.data)} onSubmit={submit}>
          <p className="text-soft">{texts.retention.say}</p>
          <div className="grid grid-cols-2 gap-4">
            {CLASSES.map((name) => (
              <TextField key={name} name={name} label={texts.retention.classes[name]} />
            ))}
          </div>
          <ProblemNote error={change.error} />
          <div className="flex justify-end">
            <Button look="primary" type="submit" isBusy={change.isPending}>
              {texts.retention.set}
            </Button>
          </div>
        </Form>
      </Card>
    </div>
  );
}
