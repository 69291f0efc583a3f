import { isOwn } from '../../domain/kernel/json.ts';
import type { EventFeed, EventStore, KnownLog } from '../../domain/ports/log.ts';
import { type RecordedEvent, shownEvent } from '../../domain/kernel/recorded.ts';
import { divergenceOf } from '../../projections/engine/divergence.ts';
import { type ModelLag, modelLags } from '../../projections/engine/lag.ts';
import type { ParkedTenant } from '../../projections/engine/parking.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import {
  type Generation,
  generations,
  hasRegistry,
  type KnownModels,
  type NewerModel,
  versionPlanOf,
} from '../../projections/engine/registry.ts';
import { BUILD_LOCK } from '../../projections/engine/building.ts';
import { account } from '../../domain/account/account.ts';
import { accountEvent } from '../../domain/account/messages.ts';
import { type AccountState, availableIn } from '../../domain/account/state.ts';
import { apiKey, apiKeyEvent } from '../../domain/apiKey.ts';
import { billingConfig, billingConfigEvent } from '../../domain/billingConfig.ts';
import { categoryOfStream } from '../../domain/catalogue.ts';
import { fxRates, fxRatesEvent } from '../../domain/fxRates.ts';
import { type Codec, eventCodec } from '../../domain/kernel/codec.ts';
import type { AnyKind, Decider } from '../../domain/kernel/decider.ts';
import { payment, paymentCodec } from '../../domain/payment.ts';
import { priceList, priceListEvent } from '../../domain/priceList.ts';
import { masterTable, masterTableEvent } from '../../domain/rules/masterTable.ts';
import { savedConfig, savedConfigEvent } from '../../domain/savedConfig.ts';

/** Which events are wanted; all conditions together. Times are RFC 3339 UTC, inclusive. */
export interface EventFilter {
  readonly stream?: string;
  readonly category?: string;
  readonly tenant?: string;
  readonly type?: string;
  readonly from?: string;
  readonly to?: string;
  readonly afterPosition?: bigint;
}

const timeOf = ({ metadata }: RecordedEvent): string =>
  typeof metadata['recorded_at'] === 'string' ? metadata['recorded_at'] : '';

const isWanted = (event: RecordedEvent, filter: EventFilter): boolean => {
  const conditions = [
    filter.tenant === undefined || event.metadata['tenant_id'] === filter.tenant,
    filter.type === undefined || event.type === filter.type,
    filter.from === undefined || timeOf(event) >= filter.from,
    filter.to === undefined || timeOf(event) <= filter.to,
    filter.afterPosition === undefined || event.position > filter.afterPosition,
    filter.category === undefined || event.stream.split('-', 1)[0] === filter.category,
  ];
  return conditions.every(Boolean);
};

/** The log in its order, up to where it ends now. */
async function* untilHead(
  feed: EventFeed,
  { afterPosition, category }: EventFilter,
  signal: AbortSignal,
): AsyncGenerator<RecordedEvent, void, void> {
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  // The whole log tells about itself too; a category does when it is asked for.
  const wanted = category === undefined ? { own: true } : { categories: [category], own: isOwn(category) };
  try {
    for await (const item of feed.subscribe({ after: afterPosition, ...wanted, signal: until })) {
      if (item.kind === 'caught_up') return;
      if (item.kind === 'event') yield item.event;
    }
  } finally {
    done.abort();
  }
}

/** Events as they are to be read, oldest first, until the log's present end or an abort. */
export async function* exportedEvents(
  log: EventStore & EventFeed,
  filter: EventFilter,
  signal: AbortSignal,
): AsyncGenerator<RecordedEvent, void, void> {
  const events = filter.stream === undefined ? untilHead(log, filter, signal) : log.read(filter.stream);
  for await (const event of events) {
    if (signal.aborted) return;
    if (isWanted(event, filter)) yield shownEvent(event);
  }
}

/** How one read model stands, as the registry and the log say. */
export interface ReadModelStatus {
  readonly name: string;
  /** Of the rows that serve. */
  readonly version: number;
  readonly state: string;
  /** As text: positions are larger than a JSON number may be. */
  readonly position: string | null;
  /** Events in the log behind its position; null when there are more than are counted. */
  readonly lag_events: number | null;
  /** When the oldest event that is not applied was recorded; null: none waits. */
  readonly waiting_since: string | null;
  /** Age of that event. */
  readonly lag_seconds: number;
  /** For how long its position has not moved while events wait. */
  readonly still_seconds: number;
  readonly is_paused: boolean;
  /** Tenants whose events it leaves, from one that it could not apply on. */
  readonly parked: readonly Omit<ParkedTenant, 'name'>[];
  /** Why it or its next version stopped, or that it is of a newer release than the one that tells. */
  readonly reason: string | null;
  /** A new version being built, or a rebuild. `interrupted`: the next rebuild goes on from there. */
  readonly next: {
    readonly version: number;
    readonly state: 'building' | 'rebuilding' | 'interrupted' | 'stopped';
    readonly position: string | null;
  } | null;
}

/** Events that are counted at most: reading on would take long and say little more. */
const LAG_MAX = 100_000;

/** Positions of the events after `after`; undefined beyond `LAG_MAX`. */
const positionsAfter = async (
  feed: EventFeed,
  after: bigint | null,
): Promise<readonly bigint[] | undefined> => {
  const head = await feed.head();
  if (head === undefined || (after !== null && after >= head)) return [];
  const done = new AbortController();
  const found: bigint[] = [];
  try {
    for await (const item of feed.subscribe({ after: after ?? undefined, signal: done.signal })) {
      if (item.kind === 'caught_up') return found;
      if (item.kind === 'event') found.push(item.event.position);
      if (found.length > LAG_MAX) return undefined;
    }
    return found;
  } finally {
    done.abort();
  }
};

const nextOf = (generation: Generation | undefined, rebuilding: boolean): ReadModelStatus['next'] => {
  if (generation === undefined) return null;
  const { version, state, position } = generation;
  const named = state === 'rebuilding' && !rebuilding ? 'interrupted' : state;
  if (named === 'live' || named === 'retired') return null;
  return { version, state: named, position: position?.toString() ?? null };
};

const isRebuilding = async (sql: Sql): Promise<boolean> => {
  const lock = await sql.tryLock(BUILD_LOCK);
  await lock?.release();
  return lock === undefined;
};

const newerText = ({ known }: NewerModel): string =>
  known === null
    ? 'a newer release serves it; this one does not know it'
    : `a newer release serves it; this one knows v${String(known)}`;

const reasonOf = (
  { name, reason }: Generation,
  beside: Generation | undefined,
  newer: readonly NewerModel[],
): string | null => {
  const model = newer.find((one) => one.name === name);
  return reason ?? beside?.reason ?? (model === undefined ? null : newerText(model));
};

const shownState = ({ state, isPaused }: Generation, isDiverged: boolean): string => {
  if (isDiverged) return 'diverged';
  return isPaused ? 'paused' : state;
};

type Late = Pick<ReadModelStatus, 'waiting_since' | 'lag_seconds' | 'still_seconds' | 'is_paused' | 'parked'>;

/** The registry was made between two looks at it. */
const NOT_LATE: Late = {
  waiting_since: null,
  lag_seconds: 0,
  still_seconds: 0,
  is_paused: false,
  parked: [],
};

const lateBy = (lag: ModelLag | undefined): Late => {
  if (lag === undefined) return NOT_LATE;
  const { name: _, parked, ...late } = lag;
  return { ...late, parked: parked.map(({ name: __, ...one }) => one) };
};

/**
 * The read models in their order, then those that a newer release has brought. Empty before a service has run
 * for the first time.
 */
export const projectionsStatus = async (
  { sql, feed, nowMs }: { readonly sql: Sql; readonly feed: KnownLog; readonly nowMs: () => number },
  known: KnownModels,
): Promise<readonly ReadModelStatus[]> => {
  if (!(await hasRegistry(sql))) return [];
  const all = await generations(sql);
  const rebuilding = all.some(({ state }) => state === 'rebuilding') && (await isRebuilding(sql));
  const { newer } = versionPlanOf(all, known);
  const foreign = newer.filter((one) => one.known === null);
  const serving = [...known.projectors, ...foreign].flatMap(
    ({ name }) => all.find((one) => one.serves && one.name === name) ?? [],
  );
  const lowest = serving.reduce<bigint | null>(
    (low, { position }) => (position === null || (low !== null && low < position) ? low : position),
    null,
  );
  const after = serving.some(({ position }) => position === null) ? null : lowest;
  const diverged = await divergenceOf(feed, serving);
  const behind = await positionsAfter(feed, after);
  const lags = await modelLags({ sql, feed, nowMs });
  return serving.map((generation) => {
    const { name, version, position } = generation;
    const beside = all.find((one) => one.name === name && !one.serves);
    return {
      name,
      version,
      state: shownState(generation, diverged?.names.includes(name) === true),
      position: position?.toString() ?? null,
      lag_events: behind?.filter((at) => position === null || at > position).length ?? null,
      ...lateBy(lags.find((one) => one.name === name)),
      reason: diverged?.names.includes(name) === true ? diverged.reason : reasonOf(generation, beside, newer),
      next: nextOf(beside, rebuilding),
    };
  });
};

/** An event, and the stream's state right after it. */
interface ReplayStep {
  readonly revision: string;
  readonly position: string;
  readonly recorded_at: string;
  readonly type: string;
  readonly event_id: string;
  readonly state: unknown;
}

/** Takes one event and gives the state after it. */
type Fold = (event: RecordedEvent) => unknown;

const foldOf =
  <Kind extends AnyKind>(
    { initialState, evolve }: Decider<Kind>,
    codec: Codec<Kind['event']>,
    shown: (state: Kind['state']) => unknown = (state) => state,
  ) =>
  (): Fold => {
    let state = initialState;
    return (event) => {
      state = evolve(state, codec.decode(event));
      return shown(state);
    };
  };

/** An account's figures in credits, and its open holds. */
const accountFigures = (state: AccountState) => ({
  balance: state.balance,
  held: state.held,
  available: availableIn(state),
  purchased: state.purchased,
  adjusted: state.adjusted,
  used: state.used,
  plan: state.plan,
  free_pages_used: state.free_pages_used,
  free_pages_held: state.free_pages_held,
  open_holds: [...state.holds.values()].map(({ hold_id, credits }) => ({ hold_id, credits })),
});

const FOLDS: Readonly<Record<string, () => Fold>> = {
  account: foldOf(account, eventCodec(accountEvent), accountFigures),
  payment: foldOf(payment, paymentCodec),
  priceList: foldOf(priceList, eventCodec(priceListEvent)),
  billingConfig: foldOf(billingConfig, eventCodec(billingConfigEvent)),
  fxRates: foldOf(fxRates, eventCodec(fxRatesEvent), ({ days }) => ({
    days: days.length,
    first: days[0]?.date ?? null,
    last: days.at(-1)?.date ?? null,
  })),
  apiKey: foldOf(apiKey, eventCodec(apiKeyEvent)),
  config: foldOf(savedConfig, eventCodec(savedConfigEvent)),
  table: foldOf(masterTable, eventCodec(masterTableEvent)),
};

/** For streams without decisions: the members as the events leave them. */
const latestMembers = (): Fold => {
  let state = {};
  return (event) => {
    state = { ...state, ...shownEvent(event).data };
    return state;
  };
};

/** A stream's events from the first on, each with the state after it. Throws UndecodableEvent. */
export async function* replayedStream(
  store: EventStore,
  stream: string,
): AsyncGenerator<ReplayStep, void, void> {
  const fold = (FOLDS[categoryOfStream(stream)] ?? latestMembers)();
  for await (const event of store.read(stream)) {
    const recorded = event.metadata['recorded_at'];
    yield {
      revision: event.revision.toString(),
      position: event.position.toString(),
      recorded_at: typeof recorded === 'string' ? recorded : '',
      type: event.type,
      event_id: event.id,
      state: fold(event),
    };
  }
}

const STATE_CHARS = 160;

const brief = (state: unknown): string => {
  const members = Object.entries(state as Readonly<Record<string, unknown>>)
    .filter(([, value]) => !Array.isArray(value) || value.length > 0)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const text = members.join(' ');
  return text.length > STATE_CHARS ? `${text.slice(0, STATE_CHARS - 1)}…` : text;
};

export const REPLAY_HEADER = ['REVISION', 'RECORDED AT', 'TYPE', 'STATE AFTER IT'];

/** A step as a row of the table. */
export const replayRow = ({ revision, recorded_at, type, state }: ReplayStep): readonly string[] => [
  revision,
  recorded_at,
  type,
  brief(state),
];
