import type { SealItem } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import { z } from 'zod';
import { csvOf, useChange, useRead } from '../../api/connection.ts';
import { audit } from '../../texts/audit.ts';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/card.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { Empty, ProblemNote } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/values.tsx';

const { columns: names, ...sealTexts } = audit.seals;

/** The longest lock, as the service takes it. */
const DAYS_MAX = 36_500;

const TONES = { holds: 'good', differs: 'bad', not_checked: 'neutral' } as const;

const COLUMNS: readonly Column<SealItem>[] = [
  {
    id: 'made',
    name: names.made,
    value: (seal) => seal.made_at,
    show: (seal) => <Time at={seal.made_at} />,
    isWhole: true,
    share: 2,
  },
  { id: 'position', name: names.position, value: (seal) => seal.position, isNumber: true },
  { id: 'events', name: names.events, value: (seal) => seal.events, isNumber: true },
  {
    id: 'state',
    name: names.state,
    value: (seal) => sealTexts.state[seal.state],
    show: (seal) => <Badge tone={TONES[seal.state]}>{sealTexts.state[seal.state]}</Badge>,
  },
  {
    id: 'continues',
    name: names.continues,
    value: (seal) => (seal.continues ? sealTexts.yes : sealTexts.no),
    show: (seal) => (
      <Badge tone={seal.continues ? 'good' : 'bad'}>{seal.continues ? sealTexts.yes : sealTexts.no}</Badge>
    ),
  },
  {
    id: 'retained',
    name: names.retained,
    value: (s) => s.retained_until,
    show: (s) => <Time at={s.retained_until} />,
    isWhole: true,
  },
  {
    id: 'digest',
    name: names.digest,
    value: (s) => s.log_digest,
    show: (s) => <code>{s.log_digest}</code>,
    share: 2,
  },
];

const schema = z.object({
  days: z
    .string()
    .trim()
    .refine(
      (days) => days === '' || (/^[1-9]\d{0,4}$/.test(days) && Number(days) <= DAYS_MAX),
      sealTexts.badDays,
    ),
});

/** Seals the log as it is, also locked in the object store if days are given. */
function MakeSeal() {
  const make = useChange('sealEventLog');
  const cache = useQueryClient();
  const send = async ({ days }: z.infer<typeof schema>): Promise<void> => {
    const body = { retain_days: days === '' ? null : Number(days) };
    const seal = await make.mutateAsync({ body }).catch(() => undefined); // the note says it
    if (seal === undefined) return;
    toast.success(sealTexts.made(seal.events.toLocaleString('en')));
    await cache.invalidateQueries({ queryKey: ['listSeals'] });
  };
  return (
    <Form schema={schema} initial={{ days: '' }} onSubmit={send}>
      <div className="flex flex-wrap items-start gap-4">
        <div className="w-80 max-w-full">
          <TextField name="days" label={sealTexts.retain} say={sealTexts.retainSay} autoComplete="off" />
        </div>
        <Button look="primary" type="submit" className="mt-6" isBusy={make.isPending}>
          {sealTexts.make}
        </Button>
      </div>
      <ProblemNote error={make.error} />
    </Form>
  );
}

/** The seals of the log, newest first. */
export function Seals() {
  const seals = useRead('listSeals');
  if (seals.error !== null) return <ProblemNote error={seals.error} onRetry={() => void seals.refetch()} />;
  return (
    <div className="flex flex-col gap-4">
      <MakeSeal />
      <DataTable
        label={sealTexts.list}
        columns={COLUMNS}
        items={seals.data?.items}
        idOf={({ revision }) => revision}
        csv={() => csvOf('listSeals', {})}
        empty={<Empty title={sealTexts.empty} say={sealTexts.emptySay} />}
      />
    </div>
  );
}
