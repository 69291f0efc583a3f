import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ArrowRight, CircleCheck } from '../../ui/icons/icons.tsx';
import { useEffect, type ReactNode } from 'react';
import { eventsOf, type LogEvent } from '../../api/events.ts';
import { tenants as texts } from '../../texts/tenants.ts';
import { Credits, Copy } from '../../ui/values.tsx';
import { Badge, type Tone } from '../../ui/card.tsx';
import { Button } from '../../ui/button.tsx';
import { Go } from '../../ui/go.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';

/** How far back the event of a booking is looked for: others may have been recorded since. */
const LOOKED_AT = 50;

const lastWith = async (
  { stream, member, value }: { readonly stream: string; readonly member: string; readonly value: string },
  signal: AbortSignal,
): Promise<LogEvent | null> => {
  const asked = { stream, direction: 'backwards', limit: LOOKED_AT } as const;
  for await (const event of eventsOf(asked, signal)) if (event.data?.[member] === value) return event;
  return null;
};

/** The event of a stream that has `value` in its member `member`, as it was just recorded; null: none. */
const useEventWith = (stream: string, member: string, value: string) =>
  useQuery({
    queryKey: ['eventOf', stream, member, value],
    queryFn: ({ signal }) => lastWith({ stream, member, value }, signal),
  });

/** One line of an effect. */
export function EffectLine({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap justify-between gap-x-4">
      <dt className="text-soft">{name}</dt>
      <dd className="ml-auto text-right font-medium">{children}</dd>
    </div>
  );
}

/** What is now, and what it becomes. */
export function Becomes({ now, then }: { now: ReactNode; then: ReactNode }) {
  return (
    <span className="inline-flex items-center gap-2">
      <span className="font-normal">{now}</span>
      <ArrowRight aria-label={texts.effect.becomes} role="img" className="size-3.5 text-soft" />
      <span>{then}</span>
    </span>
  );
}

/** The balance before and after. */
export function BalanceLine({ now, change }: { now: number; change: number }) {
  const then = now + change;
  return (
    <EffectLine name={texts.effect.balance}>
      <Becomes
        now={<Credits value={now} />}
        then={
          <span className={then < 0 ? 'text-bad' : undefined}>
            <Credits value={then} unit={texts.stats.credits} />
          </span>
        }
      />
    </EffectLine>
  );
}

/** What a form will do, before it is sent; without lines it says that the form is not filled in. */
export function Effect({ children }: { children?: ReactNode }) {
  return (
    <section
      aria-label={texts.effect.title}
      aria-live="polite"
      className="rounded-lg border border-line bg-sunken p-3"
    >
      <h3 className="mb-1 text-[13px] font-medium text-soft">{texts.effect.title}</h3>
      {children === undefined ? (
        <p className="text-soft">{texts.effect.none}</p>
      ) : (
        <dl className="flex flex-col gap-1">{children}</dl>
      )}
    </section>
  );
}

export type Plan = keyof typeof texts.plan.names;

const TONES: Readonly<Record<Plan, Tone>> = { free: 'neutral', paid: 'accent', enterprise: 'good' };

/** The plan of a tenant. */
export function PlanBadge({ plan }: { plan: Plan }) {
  return <Badge tone={TONES[plan]}>{texts.plan.names[plan]}</Badge>;
}

const READ_AGAIN = ['getTenantInfo', 'listTenants', 'listGrants', 'listTenantLedger', 'getBalance'];

const auditOf = (stream: string): string => `/audit?${new URLSearchParams({ stream }).toString()}`;

function EventLines({ event }: { event: LogEvent }) {
  return (
    <dl className="flex flex-col gap-1">
      <EffectLine name={texts.booked.event}>{event.type}</EffectLine>
      <EffectLine name={texts.booked.position}>{event.position}</EffectLine>
      <EffectLine name={texts.booked.stream}>
        {event.stream} · {event.revision}
      </EffectLine>
      <EffectLine name={texts.booked.id}>
        <code className="text-[13px] break-all">{event.event_id}</code> <Copy text={event.event_id} />
      </EffectLine>
    </dl>
  );
}

interface BookedProps {
  readonly tenantId: string;
  /** The member of the event's data that names this booking, and its value. */
  readonly member: string;
  readonly value: string;
  /** False: the same was booked before. */
  readonly isNew: boolean;
  readonly onDone: () => void;
  readonly children: ReactNode;
}

/** What was booked, with the event that says so. */
export function Booked({ tenantId, member, value, isNew, onDone, children }: BookedProps) {
  const cache = useQueryClient();
  const stream = `account-${tenantId}`;
  const event = useEventWith(stream, member, value);
  useEffect(() => {
    for (const name of READ_AGAIN) void cache.invalidateQueries({ queryKey: [name] });
  }, [cache]);
  return (
    <div className="flex flex-col gap-4" role="status">
      <p className="flex items-center gap-2 font-medium">
        <CircleCheck aria-hidden className="size-5 text-good" />
        {isNew ? texts.booked.title : texts.booked.already}
      </p>
      <dl className="flex flex-col gap-1">{children}</dl>
      <div className="rounded-lg border border-line bg-sunken p-3">
        {event.isPending && <Skeleton lines={3} />}
        <ProblemNote error={event.error} onRetry={() => void event.refetch()} />
        {event.data !== undefined && event.data !== null && <EventLines event={event.data} />}
      </div>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Go to={auditOf(stream)}>{texts.booked.audit}</Go>
        <Button look="primary" autoFocus onClick={onDone}>
          {texts.booked.done}
        </Button>
      </div>
    </div>
  );
}
