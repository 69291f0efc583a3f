import { useState } from 'react';
import { audit } from '../../../texts/audit.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import type { AuditAddress } from '../address.ts';
import { useVerification } from '../verification/useVerification.ts';
import { verdictOf, type Verified } from '../verification/verifier.ts';
import { ChainNote } from './chainNote.tsx';
import { EventDialog } from './eventDialog.tsx';
import { EventList } from './eventList.tsx';
import { ScopeBar } from './scopeBar.tsx';
import { useEvents, type SeenEvent } from './useEvents.ts';

interface TimelineProps {
  readonly at: AuditAddress;
  readonly onChange: (change: AuditAddress) => void;
}

interface LoadedProps {
  readonly events: ReturnType<typeof useEvents>;
  readonly verified: Verified;
  readonly onStream: (stream: string) => void;
}

/** The events that are loaded, and the one that is looked at. */
function Loaded({ events, verified, onStream }: LoadedProps) {
  const [open, setOpen] = useState<SeenEvent>();
  const items = events.data?.pages.flatMap((page) => page.items) ?? [];
  const isMore = events.hasNextPage && !events.isFetchingNextPage && !events.isError;
  if (items.length === 0) return <Empty title={audit.list.empty} say={audit.list.emptySay} />;
  return (
    <>
      <EventList
        items={items}
        verified={verified}
        onOpen={setOpen}
        onMore={isMore ? () => void events.fetchNextPage() : undefined}
      />
      {open !== undefined && (
        <EventDialog
          seen={open}
          verdict={verdictOf(verified, open)}
          onClose={() => setOpen(undefined)}
          onStream={(stream) => {
            setOpen(undefined);
            onStream(stream);
          }}
        />
      )}
    </>
  );
}

/** The log in words, with what this browser computes of its hashes. */
export function Timeline({ at, onChange }: TimelineProps) {
  const { stream, tenant, order, from } = at;
  const direction = order === 'oldest' ? 'forwards' : 'backwards';
  const events = useEvents({ stream, tenant_id: tenant, direction, from });
  const [verified, goOn] = useVerification(stream, tenant);
  const again = (): void => {
    void events.refetch();
    goOn();
  };
  return (
    <div className="flex flex-col gap-4">
      <ScopeBar at={at} onChange={onChange} onAgain={again} />
      <ChainNote
        verified={verified}
        onGoOn={goOn}
        onShow={(first) => onChange({ stream: first.stream, from: first.revision, order: 'oldest' })}
      />
      {events.hasPreviousPage && (
        <Button
          className="self-center"
          isBusy={events.isFetchingPreviousPage}
          onClick={() => void events.fetchPreviousPage()}
        >
          {audit.list.earlier}
        </Button>
      )}
      <ProblemNote error={events.error} onRetry={() => void events.refetch()} />
      {events.isPending && <Skeleton lines={8} className="h-12" />}
      {events.data !== undefined && (
        <Loaded
          key={[stream, tenant, direction, from].join(' ')}
          events={events}
          verified={verified}
          onStream={(chosen) => onChange({ stream: chosen, from: undefined })}
        />
      )}
    </div>
  );
}
