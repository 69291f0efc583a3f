import { useNavigate, useSearch } from '@tanstack/react-router';
import { LoaderCircle, ShieldAlert, ShieldCheck, Download, RefreshCw } from '../../ui/icons/icons.tsx';
import { useId, useState } from 'react';
import { audit, EVENT_NAMES } from '../../texts/audit.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { classes, CONTROL } from '../../ui/style.ts';
import { ProblemNote, Empty, Skeleton } from '../../ui/states.tsx';
import { verdictOf, type Break, type Verified } from './verifier.ts';
import { EVENTS_MAX, eventsAddress, type EventFilter } from '../../api/events.ts';
import { useRead } from '../../api/connection.ts';
import { useActing } from '../../api/session.ts';
import { useKeyNames } from '../../ui/names.tsx';
import { Select } from '../../ui/select.tsx';
import { useVerification } from './verifierInWorker.ts';
import { EventDialog, EventList, useEvents, type SeenEvent } from './events.tsx';

/** What the page shows, as its address says it: a view can be sent to somebody. */
interface AuditAddress {
  readonly tab?: string | undefined;
  readonly stream?: string | undefined;
  readonly tenant?: string | undefined;
  /** 'oldest', or the newest first. */
  readonly order?: string | undefined;
  /** Begins here: a revision where a stream is named, else a position. */
  readonly from?: string | undefined;
  readonly type?: string | undefined;
  readonly actor?: string | undefined;
  /** Days, UTC, both inclusive. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly q?: string | undefined;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

const PLACES = ['tab', 'stream', 'tenant', 'order', 'from'] as const;
const FILTERS = ['type', 'actor', 'since', 'until', 'q'] as const;
const NO_FILTER = { type: undefined, actor: undefined, since: undefined, until: undefined, q: undefined };

/** The address, and a way to change several of its values at once. */
export const useAuditAddress = (): readonly [AuditAddress, (change: AuditAddress) => void] => {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (values: AuditAddress): void => {
    const next = (before: object): object => ({ ...before, ...values });
    void navigate({ to: '.', search: next, replace: true } as never);
  };
  return [Object.fromEntries([...PLACES, ...FILTERS].map((name) => [name, textOf(search[name])])), change];
};

/** What is looked for, as the service takes it. */
const filterOf = ({ type, actor, since, until, q }: AuditAddress): EventFilter => ({
  type,
  actor,
  from: since,
  to: until,
  q,
});

const chainTexts = audit.chain;

const count = (value: number): string => value.toLocaleString('en');

/** The break that the log has first. */
const firstOf = (breaks: Verified['breaks']): Break | undefined =>
  [...breaks.values()].sort((a, b) => (BigInt(a.position) < BigInt(b.position) ? -1 : 1))[0];

const headOf = ({ state, checked, verified, breaks }: Verified): string => {
  if (breaks.size > 0) return chainTexts.broken(count(verified), count(checked));
  if (state === 'running') return chainTexts.running(count(checked));
  if (state === 'failed') return chainTexts.failed;
  if (state === 'paused') return chainTexts.paused(count(verified));
  return checked === 0 ? chainTexts.none : chainTexts.done(count(verified), count(checked));
};

function First({ first, more, onShow }: { first: Break; more: number; onShow: (first: Break) => void }) {
  return (
    <p className="flex flex-wrap items-center gap-2 text-[13px]">
      <span className="min-w-0 break-all">
        {chainTexts.first(first.stream, first.revision)}. {audit.flaws[first.flaw]}
        {more > 0 && ` ${chainTexts.more(more)}`}
      </span>
      <Button size="small" onClick={() => onShow(first)}>
        {chainTexts.show}
      </Button>
    </p>
  );
}

type Mood = 'bad' | 'good' | 'plain';

const moodOf = ({ state, breaks }: Verified): Mood => {
  if (breaks.size > 0) return 'bad';
  return state === 'done' ? 'good' : 'plain';
};

const FRAMES: Readonly<Record<Mood, string>> = {
  bad: 'border-bad/40 bg-bad-soft',
  good: 'border-good/30 bg-good-soft',
  plain: 'border-line bg-surface',
};

function Sign({ mood, isRunning }: { mood: Mood; isRunning: boolean }) {
  const size = 'mt-0.5 size-5 shrink-0';
  if (mood === 'bad') return <ShieldAlert aria-hidden className={classes(size, 'text-bad')} />;
  if (isRunning) return <LoaderCircle aria-hidden className={classes(size, 'animate-spin text-soft')} />;
  return <ShieldCheck aria-hidden className={classes(size, mood === 'good' ? 'text-good' : 'text-soft')} />;
}

interface ChainNoteProps {
  readonly verified: Verified;
  readonly onGoOn: () => void;
  readonly onShow: (first: Break) => void;
}

/** What the browser's own computation says of all events that are asked for. */
function ChainNote({ verified, onGoOn, onShow }: ChainNoteProps) {
  const { state, breaks, error } = verified;
  const first = firstOf(breaks);
  const mood = moodOf(verified);
  return (
    <div
      role="status"
      aria-label={chainTexts.title}
      data-state={state}
      className={classes('flex items-start gap-3 rounded-lg border p-3', FRAMES[mood])}
    >
      <Sign mood={mood} isRunning={state === 'running'} />
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="font-medium">{headOf(verified)}</p>
        {mood === 'good' && <p className="text-[13px] text-soft">{chainTexts.whole}</p>}
        {first !== undefined && <First first={first} more={breaks.size - 1} onShow={onShow} />}
        <ProblemNote error={error} onRetry={onGoOn} />
      </div>
      {state === 'paused' && (
        <Button size="small" onClick={onGoOn}>
          {chainTexts.goOn}
        </Button>
      )}
    </div>
  );
}

const scopeTexts = audit.scope;

interface FilterProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly isNumber?: boolean;
  /** What can be chosen beside what is typed: a name for each value. */
  readonly choices?: ReadonlyMap<string, string>;
  readonly isDay?: boolean;
}

/** A text that takes effect on Enter or when it is left. */
function Filter({ label, hint, value = '', onChange, isNumber, choices, isDay }: FilterProps) {
  const [typed, type] = useState<string>();
  const list = useId();
  const take = (): void => {
    const named = typed?.trim();
    const text = [...(choices ?? [])].find(([, name]) => name === named)?.[0] ?? named;
    type(undefined);
    if (text === undefined || text === value) return;
    if (text === '') onChange(undefined);
    else if (isNumber !== true || /^\d{1,18}$/.test(text)) onChange(text);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        take();
      }}
      className="flex min-w-36 flex-1 flex-col gap-1"
    >
      <label className="flex flex-col gap-1 text-[13px] text-soft">
        {label}
        <input
          type={isDay === true ? 'date' : 'text'}
          value={typed ?? choices?.get(value) ?? value}
          placeholder={hint}
          list={choices && list}
          inputMode={isNumber === true ? 'numeric' : undefined}
          onChange={({ target }) => type(target.value)}
          onBlur={take}
          className={CONTROL}
        />
      </label>
      {choices !== undefined && (
        <datalist id={list}>
          {[...choices].map(([one, name]) => (
            <option key={one} value={name} />
          ))}
        </datalist>
      )}
    </form>
  );
}

/** Keys of the operator and of the tenant in sight by their names, told apart by their ends; and the service itself. */
const useActors = ({ tenant, stream }: AuditAddress): ReadonlyMap<string, string> => {
  const { session } = useActing();
  const own = useKeyNames(session.tenant_id);
  const others = useKeyNames(tenant ?? /^account-(.+)$/.exec(stream ?? '')?.[1] ?? '');
  const keys = [...own, ...others].map(([id, name]) => [id, `${name} · ${id.slice(-6)}`] as const);
  return new Map([...keys, ['system', shell.theService]]);
};

const ALL = 'all';
const TYPES = [
  { value: ALL, name: scopeTexts.allTypes },
  ...[...EVENT_NAMES].map(([value, name]) => ({ value, name })),
];

interface FilterBarProps {
  readonly at: AuditAddress;
  readonly onChange: (change: AuditAddress) => void;
}

/** Looks for some of the events; the check of the hashes goes on over all of them. */
function FilterBar({ at, onChange }: FilterBarProps) {
  const { type, actor, since, until, q } = at;
  const actors = useActors(at);
  const look = (change: AuditAddress): void => onChange({ ...change, from: undefined });
  const isAll = FILTERS.every((name) => at[name] === undefined);
  return (
    <div className="flex flex-wrap items-end gap-2">
      <Filter label={scopeTexts.q} hint={scopeTexts.qHint} value={q} onChange={(next) => look({ q: next })} />
      <div className="flex w-56 flex-col gap-1 text-[13px] text-soft">
        {scopeTexts.type}
        <Select
          label={scopeTexts.type}
          value={type ?? ALL}
          choices={TYPES}
          onChange={(next) => look({ type: next === ALL ? undefined : next })}
        />
      </div>
      <Filter
        label={scopeTexts.actor}
        hint={scopeTexts.actorHint}
        value={actor}
        choices={actors}
        onChange={(next) => look({ actor: next })}
      />
      <Filter
        label={scopeTexts.since}
        hint=""
        isDay
        value={since}
        onChange={(next) => look({ since: next })}
      />
      <Filter
        label={scopeTexts.until}
        hint=""
        isDay
        value={until}
        onChange={(next) => look({ until: next })}
      />
      {!isAll && (
        <Button look="quiet" onClick={() => onChange(NO_FILTER)}>
          {scopeTexts.clearFilter}
        </Button>
      )}
    </div>
  );
}

interface ScopeBarProps {
  readonly at: AuditAddress;
  readonly onChange: (change: AuditAddress) => void;
  readonly onAgain: () => void;
}

/** Which events are shown, and their file. */
function ScopeBar({ at, onChange, onAgain }: ScopeBarProps) {
  const { stream, tenant, order, from } = at;
  const tenants = useRead('listTenants', { query: { limit: 100 } });
  const isAll = stream === undefined && tenant === undefined && from === undefined;
  const address = eventsAddress({ stream, tenant_id: tenant, ...filterOf(at), limit: EVENTS_MAX });
  return (
    <div className="flex flex-wrap items-end gap-2">
      <Filter
        label={scopeTexts.stream}
        hint={scopeTexts.streamHint}
        value={stream}
        onChange={(next) => onChange({ stream: next, from: undefined })}
      />
      <Filter
        label={scopeTexts.tenant}
        hint={scopeTexts.tenantHint}
        value={tenant}
        choices={new Map(tenants.data?.items.map(({ tenant_id }) => [tenant_id, tenant_id]))}
        onChange={(next) => onChange({ tenant: next, from: undefined })}
      />
      <Filter
        label={stream === undefined ? scopeTexts.fromPosition : scopeTexts.fromRevision}
        hint={scopeTexts.fromHint}
        value={from}
        isNumber
        onChange={(next) => onChange({ from: next })}
      />
      <div className="w-36">
        <Select
          label={scopeTexts.order}
          value={order === 'oldest' ? 'oldest' : 'newest'}
          choices={[
            { value: 'newest', name: scopeTexts.newest },
            { value: 'oldest', name: scopeTexts.oldest },
          ]}
          onChange={(next) => onChange({ order: next === 'oldest' ? next : undefined })}
        />
      </div>
      {!isAll && (
        <Button
          look="quiet"
          onClick={() => onChange({ stream: undefined, tenant: undefined, from: undefined })}
        >
          {scopeTexts.clear}
        </Button>
      )}
      <Button size="icon" aria-label={scopeTexts.again} onClick={onAgain}>
        <RefreshCw aria-hidden className="size-4" />
      </Button>
      <Button asChild>
        <a href={address} download={`events-${stream ?? tenant ?? 'all'}.ndjson`}>
          <Download aria-hidden className="size-4" />
          {scopeTexts.export}
        </a>
      </Button>
    </div>
  );
}

interface TimelineProps {
  readonly at: AuditAddress;
  readonly onChange: (change: AuditAddress) => void;
}

interface LoadedProps {
  readonly events: ReturnType<typeof useEvents>;
  readonly verified: Verified;
  readonly onStream: (stream: string) => void;
  readonly onActor: (actor: string) => void;
}

/** The events that are loaded, and the one that is looked at. */
function Loaded({ events, verified, onStream, onActor }: LoadedProps) {
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
          onActor={(actor) => {
            setOpen(undefined);
            onActor(actor);
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
  const events = useEvents({ stream, tenant_id: tenant, direction, from, filter: filterOf(at) });
  const [verified, goOn] = useVerification(stream, tenant);
  const again = (): void => {
    void events.refetch();
    goOn();
  };
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-col gap-2 print:hidden">
        <ScopeBar at={at} onChange={onChange} onAgain={again} />
        <FilterBar at={at} onChange={onChange} />
      </div>
      <ChainNote
        verified={verified}
        onGoOn={goOn}
        onShow={(first) =>
          onChange({ ...NO_FILTER, stream: first.stream, from: first.revision, order: 'oldest' })
        }
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
          key={JSON.stringify([stream, tenant, direction, from, filterOf(at)])}
          events={events}
          verified={verified}
          onStream={(chosen) => onChange({ stream: chosen, from: undefined })}
          onActor={(actor) => onChange({ actor, from: undefined })}
        />
      )}
    </div>
  );
}
