import { useQuery, keepPreviousData, useMutation } from '@tanstack/react-query';
import type { BalanceAt } from '@quire/client';
import { useEffect, useState, type KeyboardEvent } from 'react';
import { eventsOf, type EventsAsked, type LogEvent } from '../../api/events.ts';
import { audit } from '../../texts/audit.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Stat } from '../../ui/card.tsx';
import { Credits, Time } from '../../ui/values.tsx';
import { wordsOf } from './events.tsx';
import { CONTROL } from '../../ui/style.ts';
import { api } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { Empty, ProblemNote, Skeleton } from '../../ui/states.tsx';
import { Select } from '../../ui/select.tsx';
import { UTC, useZone } from '../../ui/zone.ts';

/** What the slider counts by. */
type Unit = 'time' | 'position';

/** A moment of the log, as the slider and the exact time show it. */
interface Moment {
  /** By which of them it is asked for. */
  readonly by: Unit;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly position: number;
  /** The event that a step led to: it is asked for by its own position, to the last digit. */
  readonly event?: Pick<LogEvent, 'position' | 'revision'> | undefined;
}

/** What the service is asked for a moment. */
const askedOf = ({ by, time, position, event }: Moment) =>
  by === 'time' ? { at: new Date(time).toISOString() } : { position: event?.position ?? String(position) };

/** A moment that an event ends. */
const momentOf = (event: LogEvent, before: Moment): Moment => {
  const time = Date.parse(event.recorded_at ?? '');
  return {
    by: 'position',
    time: Number.isNaN(time) ? before.time : time,
    position: Number(event.position),
    event,
  };
};

/** The first of the events that are asked for. */
const firstOf = async (asked: EventsAsked, signal: AbortSignal): Promise<LogEvent | undefined> => {
  for await (const event of eventsOf({ ...asked, limit: 1, texts: true }, signal)) return event;
  return undefined;
};

const two = (value: number, length = 2): string => String(value).padStart(length, '0');

/** A time in the zone that is shown, as an input of date and time has it. */
const inputText = (time: number, zone: string): string => {
  const at = new Date(time);
  if (zone === UTC) return at.toISOString().slice(0, -1);
  const day = [two(at.getFullYear(), 4), two(at.getMonth() + 1), two(at.getDate())].join('-');
  const clock = [two(at.getHours()), two(at.getMinutes()), two(at.getSeconds())].join(':');
  return `${day}T${clock}.${two(at.getMilliseconds(), 3)}`;
};

/** The time that such an input has; NaN: it has none. */
const timeOf = (text: string, zone: string): number => Date.parse(zone === UTC ? `${text}Z` : text);

const texts = audit.balance;
const { figures: names } = texts;

interface FiguresProps {
  readonly balance: BalanceAt;
  readonly onShow: (event: Stood) => void;
}

type Stood = NonNullable<BalanceAt['event']>;

/** What happened at the moment, in words. */
function What({ stream, event }: { stream: string; event: Stood }) {
  const { data } = useQuery({
    queryKey: ['listEvents', 'one', stream, event.revision],
    queryFn: async ({ signal }) => {
      const before = BigInt(event.revision) - 1n;
      return (await firstOf({ stream, after: before < 0n ? undefined : String(before) }, signal)) ?? null;
    },
  });
  if (data === undefined || data === null || (data.covered === null && !data.texts_moved)) return null;
  const { what, who, why } = wordsOf(data);
  return (
    <p className="mb-1">
      {what}
      {who !== undefined && (
        <span className="text-soft">
          {' '}
          {audit.list.by} {who}
        </span>
      )}
      {why !== undefined && <span className="text-soft"> · {why}</span>}
    </p>
  );
}

/** A balance, and the event that it stands on. */
function Figures({ balance, onShow }: FiguresProps) {
  const { event } = balance;
  return (
    <>
      <div className="grid grid-cols-2 gap-4 lg:grid-cols-4">
        <Stat name={names.balance} value={<Credits value={balance.balance_credits} />} say={texts.credits} />
        <Stat name={names.held} value={<Credits value={balance.held_credits} />} say={texts.credits} />
        <Stat
          name={names.available}
          value={<Credits value={balance.available_credits} />}
          say={texts.credits}
        />
        <Stat name={names.plan} value={balance.plan} />
        <Stat name={names.purchased} value={<Credits value={balance.total_credits_purchased} />} />
        <Stat name={names.used} value={<Credits value={balance.total_credits_used} />} />
        <Stat name={names.adjusted} value={<Credits value={balance.total_credits_adjusted} />} />
        <Stat name={names.holds} value={<Credits value={balance.open_holds} />} />
        <Stat name={names.freePages} value={<Credits value={balance.free_pages_used} />} />
      </div>
      <Card title={texts.stands}>
        {event === null ? (
          <p className="text-soft">{texts.nothing}</p>
        ) : (
          <div className="flex flex-wrap items-center justify-between gap-2">
            <div className="min-w-0">
              <What stream={`account-${balance.tenant_id}`} event={event} />
              {event.type}, {audit.list.revision(event.revision)}, {audit.list.position(event.position)},{' '}
              <Time at={event.recorded_at} />
            </div>
            <Button size="small" onClick={() => onShow(event)}>
              {texts.show}
            </Button>
          </div>
        )}
      </Card>
    </>
  );
}

type Direction = 'backwards' | 'forwards';

const KEYS: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'backwards',
  ArrowDown: 'backwards',
  ArrowRight: 'forwards',
  ArrowUp: 'forwards',
};

interface SliderProps {
  readonly unit: Unit;
  readonly range: readonly [number, number];
  readonly value: number;
  readonly onChange: (value: number) => void;
  readonly onStep: (direction: Direction) => void;
}

/** Chooses a moment roughly; the arrow keys go from event to event, Page Up and Page Down by a tenth. */
function Slider({ unit, range: [least, most], value, onChange, onStep }: SliderProps) {
  const timeZone = useZone();
  const said =
    unit === 'position'
      ? audit.list.position(String(value))
      : new Date(value).toLocaleString('en-GB', { timeZone });
  const onKeyDown = (event: KeyboardEvent): void => {
    const direction = KEYS[event.key];
    if (direction === undefined) return;
    event.preventDefault();
    onStep(direction);
  };
  return (
    <div className="flex flex-wrap items-center gap-3">
      <input
        type="range"
        aria-label={unit === 'position' ? texts.position : texts.moment}
        aria-valuetext={said}
        min={least}
        max={most}
        step={1}
        value={value}
        onChange={({ target }) => onChange(Number(target.value))}
        onKeyDown={onKeyDown}
        className="h-8 min-w-40 flex-1 accent-accent"
      />
      <output className="w-48 text-right">{said}</output>
    </div>
  );
}

interface ExactlyProps {
  readonly moment: Moment;
  readonly onTime: (time: number) => void;
  readonly onStep: (direction: Direction) => void;
  readonly onNow: () => void;
}

/** Chooses a moment to the millisecond, or by the event that it ends with. */
function Exactly({ moment, onTime, onStep, onNow }: ExactlyProps) {
  const zone = useZone();
  return (
    <div className="flex flex-wrap items-center gap-3">
      <label className="flex items-center gap-2 text-soft">
        {texts.exact(zone)}
        <input
          type="datetime-local"
          step={0.001}
          value={inputText(moment.time, zone)}
          onChange={({ target }) => {
            const time = timeOf(target.value, zone);
            if (!Number.isNaN(time)) onTime(time);
          }}
          className={`${CONTROL} w-64`}
        />
      </label>
      <Button size="small" onClick={() => onStep('backwards')}>
        {texts.before}
      </Button>
      <Button size="small" onClick={() => onStep('forwards')}>
        {texts.after}
      </Button>
      <Button size="small" onClick={onNow}>
        {texts.now}
      </Button>
    </div>
  );
}

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
