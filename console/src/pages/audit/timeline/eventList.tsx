import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { audit } from '../../../texts/audit.ts';
import { verdictOf, type Verified } from '../verification/verifier.ts';
import { EventLine, LINE_HEIGHT } from './eventLine.tsx';
import type { SeenEvent } from './useEvents.ts';

interface EventListProps {
  readonly items: readonly SeenEvent[];
  readonly verified: Verified;
  readonly onOpen: (seen: SeenEvent) => void;
  /** Loads what follows; undefined: there is nothing more. */
  readonly onMore: (() => void) | undefined;
}

const idOf = (index: number): string => `event-${String(index)}`;

const stepsFrom = (active: number, last: number): Readonly<Record<string, number>> => ({
  ArrowDown: active + 1,
  ArrowUp: active - 1,
  PageDown: active + 8,
  PageUp: active - 8,
  Home: 0,
  End: last,
});

/** Events of any number as a list; only those in sight are drawn. Arrow keys move, Enter opens. */
export function EventList({ items, verified, onOpen, onMore }: EventListProps) {
  const place = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => place.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 8,
  });
  const shown = virtual.getVirtualItems();
  const end = shown.at(-1)?.index ?? 0;
  const isNearEnd = end >= items.length - 20;
  useEffect(() => {
    if (isNearEnd) onMore?.();
  }, [isNearEnd, items.length]); // eslint-disable-line react-hooks/exhaustive-deps
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = stepsFrom(active, items.length - 1)[event.key];
    const item = items[active];
    if (event.key === 'Enter' && item !== undefined) onOpen(item);
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(items.length - 1, step));
    setActive(next);
    virtual.scrollToIndex(next);
  };
  return (
    <div
      ref={place}
      role="listbox"
      tabIndex={0}
      aria-label={audit.list.name}
      aria-activedescendant={idOf(active)}
      onKeyDown={onKeyDown}
      className="group/list h-[64vh] min-h-80 overflow-auto rounded-lg border border-line bg-surface"
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const seen = items[index];
          return seen === undefined ? null : (
            <EventLine
              key={seen.event.event_id + seen.event.position}
              id={idOf(index)}
              seen={seen}
              verdict={verdictOf(verified, seen)}
              top={start}
              isActive={index === active}
              onOpen={() => {
                setActive(index);
                onOpen(seen);
              }}
            />
          );
        })}
      </div>
    </div>
  );
}
