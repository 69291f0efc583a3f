import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { BalanceAt } from '@quire/client';
import { api } from '../../../api/connection.ts';
import type { LogEvent } from '../../../api/events.ts';
import { useTenantId } from '../../../api/useSession.ts';
import { audit } from '../../../texts/audit.ts';
import { Empty } from '../../../ui/empty.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { Select } from '../../../ui/form/select.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Figures } from './figures.tsx';
import { askedOf, firstOf, momentOf, type Moment, type Unit } from './moment.ts';
import { Exactly, Slider, type Direction } from './slider.tsx';

const texts = audit.balance;

const UNITS = [
  { value: 'time', name: texts.byTime },
  { value: 'position', name: texts.byPosition },
];

/** A moment is asked for once the slider has rested this long. */
const REST_MS = 200;

interface Range {
  readonly position: readonly [number, number];
  readonly time: readonly [number, number];
}

/** From the account's first event to the end of the log; null: there is no account. */
const useRange = (tenantId: string) =>
  useQuery({
    queryKey: ['listEvents', 'range', tenantId],
    queryFn: async ({ signal }): Promise<Range | null> => {
      const first = await firstOf({ stream: `account-${tenantId}` }, signal);
      const last = await firstOf({ direction: 'backwards' }, signal);
      if (first === undefined || last === undefined) return null;
      const began = Date.parse(first.recorded_at ?? '');
      const now = Date.now();
      return {
        position: [Number(first.position), Number(last.position)],
        time: [Number.isNaN(began) ? now : began, now],
      };
    },
  });

interface AtMomentProps {
  readonly range: Range;
  readonly onShow: (event: NonNullable<BalanceAt['event']>) => void;
}

/** A moment once it has not changed for a while. */
const useRested = (moment: Moment): Moment => {
  const [rested, rest] = useState(moment);
  useEffect(() => {
    const timer = setTimeout(() => rest(moment), REST_MS);
    return () => clearTimeout(timer);
  }, [moment]);
  return rested;
};

const useBalanceAt = (moment: Moment) => {
  const tenantId = useTenantId();
  const query = askedOf(moment);
  return useQuery({
    queryKey: ['getBalanceAt', tenantId, query],
    queryFn: ({ signal }) => api.getBalanceAt({ path: { tenant_id: tenantId }, query }, { signal }),
    placeholderData: keepPreviousData,
  });
};

/** Goes from event to event of the account, by the revision that a moment ends with. */
const useSteps = (moment: Moment, revision: string | undefined, onMoment: (moment: Moment) => void) => {
  const stream = `account-${useTenantId()}`;
  return useMutation({
    mutationKey: ['step', stream],
    scope: { id: 'step' },
    mutationFn: async (direction: Direction): Promise<LogEvent | undefined> => {
      const after = moment.event?.revision ?? revision;
      if (after === undefined && direction === 'backwards') return undefined;
      const found = await firstOf({ stream, direction, after }, new AbortController().signal);
      if (found !== undefined) onMoment(momentOf(found, moment));
      return found;
    },
  });
};

function AtMoment({ range, onShow }: AtMomentProps) {
  const [unit, setUnit] = useState<Unit>('time');
  const latest: Moment = { by: 'time', time: range.time[1], position: range.position[1] };
  const [moment, setMoment] = useState<Moment>(latest);
  const rested = useRested(moment);
  const balance = useBalanceAt(rested);
  const steps = useSteps(moment, balance.data?.event?.revision, setMoment);
  const step = (direction: Direction): void => {
    // where a step goes from is known of the moment that is shown alone
    const isShown = moment.event !== undefined || (rested === moment && !balance.isPlaceholderData);
    if (isShown && !steps.isPending) steps.mutate(direction);
  };
  const set = (next: Moment): void => {
    steps.reset();
    setMoment(next);
  };
  const { time, position } = moment;
  const setBy = (by: Unit, value: number): void => set({ time, position, by, [by]: value });
  const isEnd = steps.isSuccess && steps.data === undefined;
  return (
    <div className="flex flex-col gap-4">
      <p className="text-soft">{texts.say}</p>
      <div className="flex flex-wrap items-center gap-3">
        <div className="w-36">
          <Select
            label={texts.choose}
            value={unit}
            choices={UNITS}
            onChange={(next) => setUnit(next === 'time' ? next : 'position')}
          />
        </div>
        <div className="min-w-0 flex-1">
          <Slider
            unit={unit}
            range={range[unit]}
            value={moment[unit]}
            onChange={(value) => setBy(unit, value)}
            onStep={step}
          />
        </div>
      </div>
      <Exactly
        moment={moment}
        onTime={(value) => setBy('time', value)}
        onStep={step}
        onNow={() => set(latest)}
      />
      <p role="status" className="text-[13px] text-soft empty:hidden">
        {isEnd && (steps.variables === 'backwards' ? texts.isFirst : texts.isLast)}
      </p>
      <ProblemNote error={steps.error} />
      <ProblemNote error={balance.error} onRetry={() => void balance.refetch()} />
      {balance.isPending && <Skeleton lines={4} className="h-16" />}
      {balance.data !== undefined && <Figures balance={balance.data} onShow={onShow} />}
    </div>
  );
}

/** The balance of a tenant as of any moment. */
export function Balance({ onShow }: Pick<AtMomentProps, 'onShow'>) {
  const range = useRange(useTenantId());
  if (range.error !== null) return <ProblemNote error={range.error} onRetry={() => void range.refetch()} />;
  if (range.data === undefined) return <Skeleton lines={4} className="h-16" />;
  if (range.data === null) return <Empty title={texts.none} say={texts.noneSay} />;
  return <AtMoment range={range.data} onShow={onShow} />;
}
