import { useQueryClient } from '@tanstack/react-query';
import { CircleCheck } from '../../../ui/icons/icons.tsx';
import { useEffect, type ReactNode } from 'react';
import { useEventWith } from '../../../api/accountEvents.ts';
import type { LogEvent } from '../../../api/events.ts';
import { tenants as texts } from '../../../texts/tenants.ts';
import { Button } from '../../../ui/button.tsx';
import { Go } from '../../../ui/go.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Copy } from '../../../ui/values/copy.tsx';
import { EffectLine } from './effect.tsx';

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
