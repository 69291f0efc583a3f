import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode, type KeyboardEvent } from 'react';
import { Check, CircleDashed, OctagonX, TriangleAlert } from '../../ui/icons/icons.tsx';
import { useVirtualizer } from '@tanstack/react-virtual';
import { eventsOf, placeOf, type EventFilter, type EventScope, type LogEvent } from '../../api/events.ts';
import { contentFlawOf, coveredOf, verdictOf, type Flaw, type Verdict, type Verified } from './verifier.ts';
import { isolated } from '../../texts/shell.ts';
import { sentenceOf, audit, type EventData } from '../../texts/audit.ts';
import { Badge, type Tone } from '../../ui/card.tsx';
import { Button } from '../../ui/button.tsx';
import { JsonEditor } from '../../ui/editor.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Copy, Time } from '../../ui/values.tsx';
import { useIsPrinting } from '../../ui/printing.tsx';
import { classes } from '../../ui/style.ts';

/** An event with what this browser found of its content. */
export interface SeenEvent {
  readonly event: LogEvent;
  readonly own: Flaw | null;
}

interface EventsPage {
  readonly items: readonly SeenEvent[];
  readonly isFull: boolean;
}

type Direction = 'forwards' | 'backwards';

interface Place {
  readonly after: string | undefined;
  readonly direction: Direction;
}

interface EventsView extends EventScope {
  /** The order in which they are shown. */
  readonly direction: Direction;
  /** The first one that is shown: a revision where a stream is named, else a position. */
  readonly from: string | undefined;
  readonly filter: EventFilter;
}

const OF_PAGE = 200;

const OTHER = { forwards: 'backwards', backwards: 'forwards' } as const;

/** `after` is exclusive, `from` is shown itself. */
const startOf = ({ direction, from }: EventsView): Place => {
  if (from === undefined) return { direction, after: undefined };
  const place = BigInt(from) + (direction === 'backwards' ? 1n : -1n);
  return { direction, after: place < 0n ? undefined : String(place) };
};

const readPage = async (view: EventsView, place: Place, signal: AbortSignal): Promise<EventsPage> => {
  const { stream, tenant_id, filter } = view;
  const events: LogEvent[] = [];
  const asked = { stream, tenant_id, ...filter, ...place, limit: OF_PAGE, texts: true };
  for await (const event of eventsOf(asked, signal)) events.push(event);
  const items = await Promise.all(
    events.map(async (event): Promise<SeenEvent> => ({ event, own: await contentFlawOf(event) })),
  );
  if (place.direction !== view.direction) items.reverse();
  return { items, isFull: items.length === OF_PAGE };
};

/** Events of a scope in both directions from a place, page by page. */
export const useEvents = (view: EventsView) =>
  useInfiniteQuery({
    queryKey: ['listEvents', view],
    queryFn: ({ pageParam, signal }) => readPage(view, pageParam, signal),
    initialPageParam: startOf(view),
    getNextPageParam: (last, _pages, { direction }): Place | undefined => {
      const item = last.items.at(-1);
      if (item === undefined || (direction === view.direction && !last.isFull)) return undefined;
      return { direction: view.direction, after: placeOf(view, item.event) };
    },
    getPreviousPageParam: (first, _pages, { direction }): Place | undefined => {
      const item = first.items[0];
      if (view.from === undefined || item === undefined) return undefined;
      if (direction !== view.direction && !first.isFull) return undefined;
      return { direction: OTHER[view.direction], after: placeOf(view, item.event) };
    },
  });

const eventTexts = audit.event;

/** What is shown of an event; all of it is read from what was hashed. */
interface EventWords {
  readonly what: string;
  readonly who: string | undefined;
  readonly keyId: string | undefined;
  readonly why: string | undefined;
  readonly when: string | undefined;
  readonly request: string | undefined;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const dataOf = (value: unknown): EventData =>
  typeof value === 'object' && value !== null ? (value as EventData) : {};

/** An actor is a word, or has a role with the name of its key, or the key's ID. */
const actorOf = (value: unknown, keyName: string | null | undefined): string | undefined => {
  if (typeof value === 'string') return textOf(value);
  const said = dataOf(value);
  if (said['role'] === 'system') return eventTexts.system;
  const named = typeof keyName === 'string' ? isolated(keyName) : undefined;
  const parts = [
    said['kind'] ?? said['type'] ?? said['role'],
    named ?? said['key_id'] ?? said['id'] ?? said['subject'],
  ];
  return textOf(
    parts
      .map(textOf)
      .filter((part) => part !== undefined)
      .join(' '),
  );
};

/** Where an object stands beside the log, this member alone is in its place. */
const JSON_MEMBER = 'quire:json';

/** Content with the text that each token stands for. */
const withTexts = (content: unknown, texts: NonNullable<LogEvent['texts']>): unknown => {
  if (typeof content === 'string') return content in texts ? (texts[content] ?? eventTexts.erased) : content;
  if (typeof content !== 'object' || content === null) return content;
  if (JSON_MEMBER in content) return eventTexts.beside;
  if (Array.isArray(content)) return content.map((one: unknown) => withTexts(one, texts));
  return Object.fromEntries(Object.entries(content).map(([name, one]) => [name, withTexts(one, texts)]));
};

/** What happened, who did it, why and when. */
export const wordsOf = (event: LogEvent): EventWords => {
  const covered = withTexts(coveredOf(event), event.texts ?? {}) as {
    readonly type?: unknown;
    readonly data?: unknown;
    metadata?: unknown;
  };
  const [data, metadata] = [dataOf(covered.data), dataOf(covered.metadata)];
  return {
    what: sentenceOf(textOf(covered.type) ?? event.type, data),
    who: actorOf(metadata['actor'], event.actor_name),
    keyId: textOf(dataOf(metadata['actor'])['key_id']),
    why: textOf(data['reason']) ?? textOf(data['note']) ?? textOf(data['detail']),
    when: textOf(metadata['recorded_at']),
    request: textOf(metadata['correlation_id']),
  };
};

const TONES: Readonly<Record<Verdict['kind'], Tone>> = {
  verified: 'good',
  waiting: 'neutral',
  withheld: 'neutral',
  broken: 'bad',
  behind: 'bad',
};

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-[13px] text-soft">{name}</dt>
      <dd className="break-words">{children}</dd>
    </div>
  );
}

function Hash({ name, text }: { name: string; text: string | null }) {
  return (
    <Fact name={name}>
      <code className="text-[13px] break-all">{text ?? eventTexts.unknown}</code>{' '}
      {text !== null && <Copy text={text} />}
    </Fact>
  );
}

const sayOf = (verdict: Verdict): string | undefined => {
  if (verdict.kind === 'broken') return audit.flaws[verdict.flaw];
  if (verdict.kind === 'withheld') return audit.verdict.withheldSay;
  return verdict.kind === 'behind' ? audit.verdict.behindSay(verdict.first.revision) : undefined;
};

interface EventDialogProps {
  readonly seen: SeenEvent;
  readonly verdict: Verdict;
  readonly onClose: () => void;
  readonly onStream: (stream: string) => void;
  readonly onActor: (actor: string) => void;
}

/** All of one event: in words, its hashes, and the JSON that was hashed. */
export function EventDialog({ seen: { event }, verdict, onClose, onStream, onActor }: EventDialogProps) {
  const { what, who, keyId, why, when, request } = wordsOf(event);
  const say = sayOf(verdict);
  const isReadable = event.covered !== null || event.texts_moved;
  const json = isReadable ? JSON.stringify(coveredOf(event), null, 2) : undefined;
  return (
    <Dialog isOpen isWide title={what} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={TONES[verdict.kind]}>{audit.verdict[verdict.kind]}</Badge>
        {say}
      </p>
      <dl className="grid gap-3 sm:grid-cols-2">
        <Fact name={eventTexts.who}>
          {who ?? eventTexts.unknown}{' '}
          {keyId !== undefined && (
            <>
              <Copy text={keyId} name={eventTexts.copyKey} />
              <Button size="small" look="quiet" onClick={() => onActor(keyId)}>
                {eventTexts.actorOnly}
              </Button>
            </>
          )}
        </Fact>
        <Fact name={eventTexts.when}>
          <Time at={when} />
        </Fact>
        <Fact name={eventTexts.why}>{why ?? eventTexts.unknown}</Fact>
        <Fact name={eventTexts.request}>
          <code className="text-[13px] break-all">{request ?? eventTexts.unknown}</code>
        </Fact>
        <Fact name={eventTexts.stream}>
          <span className="break-all">{event.stream}</span>{' '}
          <Button size="small" look="quiet" onClick={() => onStream(event.stream)}>
            {eventTexts.streamOnly}
          </Button>
        </Fact>
        <Fact name={eventTexts.place}>
          {audit.list.revision(event.revision)}, {audit.list.position(event.position)}
        </Fact>
        <Hash name={eventTexts.hash} text={event.hash} />
        <Hash name={eventTexts.previous} text={event.prev_hash} />
      </dl>
      {json === undefined ? (
        <p className="text-bad">{eventTexts.unreadable}</p>
      ) : (
        <>
          <JsonEditor label={event.texts_moved ? eventTexts.left : eventTexts.json} value={json} />
          {json.includes('quire:text:') && <p className="text-[13px] text-soft">{eventTexts.tokens}</p>}
        </>
      )}
    </Dialog>
  );
}

/** Pixels of each event. */
const LINE_HEIGHT = 60;

const MARKS = {
  verified: { icon: Check, look: 'bg-good-soft text-good' },
  waiting: { icon: CircleDashed, look: 'bg-sunken text-soft' },
  withheld: { icon: CircleDashed, look: 'bg-sunken text-soft' },
  broken: { icon: OctagonX, look: 'bg-bad text-surface' },
  behind: { icon: TriangleAlert, look: 'bg-bad-soft text-bad' },
} as const;

/** A verdict as a sign with its name. */
function Mark({ verdict }: { verdict: Verdict }) {
  const { icon: Icon, look } = MARKS[verdict.kind];
  return (
    <span
      role="img"
      aria-label={audit.verdict[verdict.kind]}
      title={audit.verdict[verdict.kind]}
      className={classes('z-10 inline-flex size-6 shrink-0 items-center justify-center rounded-full', look)}
    >
      <Icon aria-hidden className="size-3.5" />
    </span>
  );
}

interface EventLineProps {
  readonly id: string;
  readonly seen: SeenEvent;
  readonly verdict: Verdict;
  readonly top: number;
  readonly isActive: boolean;
  readonly onOpen: () => void;
}

/** One event of the timeline. */
function EventLine({ id, seen, verdict, top, isActive, onOpen }: EventLineProps) {
  const { event } = seen;
  const { what, who, why, when } = wordsOf(event);
  const isBad = verdict.kind === 'broken' || verdict.kind === 'behind';
  return (
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      data-verdict={verdict.kind}
      data-position={event.position}
      onClick={onOpen}
      className={classes(
        'absolute inset-x-0 flex items-center gap-3 border-b border-line/60 px-4 hover:bg-sunken',
        'print:static print:h-auto! print:py-2 print:transform-none!',
        isBad && 'bg-bad-soft/60',
        isActive && 'group-focus-visible/list:bg-accent-soft',
      )}
      style={{ height: LINE_HEIGHT, transform: `translateY(${String(top)}px)` }}
    >
      <span aria-hidden className="absolute inset-y-0 left-[27px] w-px bg-line" />
      <Mark verdict={verdict} />
      <span className="min-w-0 flex-1">
        <span
          className={classes(
            'block truncate font-medium print:whitespace-normal',
            verdict.kind === 'broken' && 'text-bad',
          )}
        >
          {what}
        </span>
        <span className="block truncate text-[13px] text-soft print:wrap-anywhere print:whitespace-normal">
          <span className="sm:hidden">
            <Time at={when} /> ·{' '}
          </span>
          {event.stream} · {audit.list.revision(event.revision)}
          {who !== undefined && ` · ${audit.list.by} ${who}`}
          {why !== undefined && ` · ${why}`}
        </span>
      </span>
      <span className="hidden shrink-0 text-right text-[13px] text-soft sm:block">
        <Time at={when} />
      </span>
    </div>
  );
}

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
  const isPrinting = useIsPrinting();
  const inSight = virtual.getVirtualItems();
  const shown = isPrinting ? items.map((_, index) => ({ index, start: 0 })) : inSight;
  const end = inSight.at(-1)?.index ?? 0;
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
      <div className="relative print:h-auto!" style={{ height: virtual.getTotalSize() }}>
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
