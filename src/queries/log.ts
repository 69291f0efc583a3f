import { setImmediate as nextTurn } from 'node:timers/promises';
import { BOOKS_STREAM, bookedBy, booksEvent, type Opening, openingBy } from '../../domain/books.ts';
import { coveredText, hashVersionOf } from '../../domain/kernel/chain.ts';
import { SEALS_STREAM, type Json, type JsonObject } from '../../domain/kernel/json.ts';
import type { EventFeed, EventStore } from '../../domain/ports/log.ts';
import { type RecordedEvent, shownEvent } from '../../domain/kernel/recorded.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import { actorIn } from '../../domain/kernel/decider.ts';
import { account } from '../../domain/account/account.ts';
import { accountEvent, accountStream } from '../../domain/account/messages.ts';
import { availableIn } from '../../domain/account/state.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { savedConfigStream, type ConfigVersion } from '../../domain/savedConfig.ts';
import { digestOfSeal, type SealEvent } from '../../domain/finding.ts';
import { tokensIn } from '../../domain/eventLog/writtenText.ts';
import type { AuditRecord } from '../commands/audits.ts';

/** The log as auditors read it: streams, and the whole in both directions. */
export type LogToRead = Pick<EventStore, 'read' | 'vault'> & Pick<EventFeed, 'subscribe' | 'backwards'>;

/** Which events are asked for, all conditions together. */
export interface EventsAsked {
  readonly stream?: string | undefined;
  readonly tenant_id?: string | undefined;
  /** Goes on behind this one: a revision where `stream` is named, else a position. */
  readonly after?: bigint | undefined;
  readonly type?: string | undefined;
  /** ID of the key that acted. */
  readonly actor?: string | undefined;
  /** Recorded from and until, both inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Text that the event, or a text beside it, has, in any case. */
  readonly q?: string | undefined;
  readonly direction: 'forwards' | 'backwards';
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** A line of the answer: the stored event, and the text that its hash covers. */
export interface EventLine {
  readonly position: string;
  readonly stream: string;
  readonly revision: string;
  readonly event_id: string;
  readonly type: string;
  /** As all of the metadata: null where it is no JSON any more. */
  readonly recorded_at: string | null;
  readonly hash_version: 1 | 2 | null;
  readonly prev_hash: string | null;
  readonly hash: string | null;
  readonly data: JsonObject | null;
  readonly metadata: JsonObject | null;
  readonly covered: string | null;
  /** Texts were moved out of it: `data` and `metadata` have tokens in their place, and `covered` is null. */
  readonly texts_moved: boolean;
}

/** Up to where the log reaches now. */
async function* toTheEnd(log: LogToRead, { after, signal }: EventsAsked): AsyncGenerator<RecordedEvent> {
  for await (const item of log.subscribe({ after, own: true, signal })) {
    if (item.kind === 'caught_up') return;
    if (item.kind === 'event') yield item.event;
  }
}

const candidates = (log: LogToRead, asked: EventsAsked): AsyncIterable<RecordedEvent> => {
  const { stream, after, direction, signal } = asked;
  const backwards = direction === 'backwards';
  if (stream === undefined)
    return backwards ? log.backwards({ before: after, signal }) : toTheEnd(log, asked);
  const from = after === undefined ? {} : { from: backwards ? after - 1n : after + 1n };
  return log.read(stream, { direction, ...from });
};

/** The content of a stored event; null if somebody turned it into something that is not JSON. */
const contentOf = (event: RecordedEvent): Pick<RecordedEvent, 'data' | 'metadata'> | null => {
  try {
    return { data: event.data, metadata: event.metadata };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
};

/** Processes' clocks differ by less: behind an event that is so much beyond a time, none from before it comes. */
const SKEW_MS = 86_400_000;

/** Whether all events behind this one are outside of the times that are asked for. */
const isBeyond = ({ direction, from, to }: EventsAsked, recorded: string | null): boolean => {
  if (recorded === null) return false;
  if (direction === 'backwards') return from !== undefined && laterBy(recorded, SKEW_MS) < from;
  return to !== undefined && recorded > laterBy(to, SKEW_MS);
};

const isWithin = ({ from, to }: EventsAsked, recorded: string): boolean =>
  (from === undefined || recorded >= from) && (to === undefined || recorded <= to);

/** Whether an event is of the tenant, type, actor and times that are asked for. */
const isChosen = (
  asked: EventsAsked,
  event: Pick<RecordedEvent, 'type'>,
  metadata: JsonObject | undefined,
): boolean => {
  const { tenant_id, actor, type } = asked;
  if (type !== undefined && event.type !== type) return false;
  if (tenant_id !== undefined && metadata?.['tenant_id'] !== tenant_id) return false;
  if (actor !== undefined && (metadata === undefined || actorIn(metadata) !== actor)) return false;
  return isWithin(asked, textIn(metadata, 'recorded_at') ?? '');
};

async function* chosenEvents(log: LogToRead, asked: EventsAsked): AsyncGenerator<RecordedEvent> {
  for await (const event of candidates(log, asked)) {
    if (asked.signal.aborted) return;
    const metadata = contentOf(event)?.metadata;
    if (isBeyond(asked, textIn(metadata, 'recorded_at'))) return;
    if (isChosen(asked, event, metadata)) yield event;
  }
}

/** Whether a value, or one in it, has a text in any case; `wanted` is in lower case. Names of members are no values. */
const hasText = (value: Json | undefined, wanted: string): boolean => {
  if (value === undefined || value === null) return false;
  if (typeof value === 'object') return Object.values<Json>(value).some((one) => hasText(one, wanted));
  return String(value).toLowerCase().includes(wanted);
};

/** Events whose texts are looked up together. */
const SEARCHED_AT_ONCE = 50;

/** Of some events those that have a text. */
const having = async (
  log: Pick<LogToRead, 'vault'>,
  events: readonly RecordedEvent[],
  q: string,
): Promise<readonly RecordedEvent[]> => {
  const wanted = q.toLowerCase();
  const lines = await textsIn(log, events.map(eventLine));
  return events.filter((_, at) => {
    const { stream, type, data, metadata, texts } = lines[at] ?? {};
    const said = [stream, type, data, metadata?.['actor'], Object.values(texts ?? {})];
    return said.some((one) => hasText(one, wanted));
  });
};

async function* foundEvents(log: LogToRead, asked: EventsAsked, q: string): AsyncGenerator<RecordedEvent> {
  let page: RecordedEvent[] = [];
  for await (const event of chosenEvents(log, asked)) {
    page.push(event);
    if (page.length < SEARCHED_AT_ONCE) continue;
    yield* await having(log, page, q);
    page = [];
  }
  yield* await having(log, page, q);
}

/** Events of the log as they are stored, as many as were asked for, until nobody listens any more. */
export async function* logEvents(log: LogToRead, asked: EventsAsked): AsyncGenerator<RecordedEvent> {
  const { stream, direction, after, limit, q } = asked;
  // Before revision 0 there is nothing.
  if (stream !== undefined && direction === 'backwards' && after === 0n) return;
  let left = limit;
  for await (const event of q === undefined ? chosenEvents(log, asked) : foundEvents(log, asked, q)) {
    yield event;
    left -= 1;
    if (left === 0) return;
  }
}

const textIn = (metadata: JsonObject | undefined, name: string): string | null => {
  const value = metadata?.[name];
  return typeof value === 'string' ? value : null;
};

/** null for content that has no canonical form, such as half of a surrogate pair. */
const coveredBy = (event: RecordedEvent): string | null => {
  try {
    return coveredText(event);
  } catch {
    return null;
  }
};

/** An event as a line: what is read again from `covered` is what was hashed, and nothing else. */
export const eventLine = (recorded: RecordedEvent): EventLine => {
  const isJson = contentOf(recorded) !== null;
  const event = isJson ? shownEvent(recorded) : recorded;
  const texts_moved = event !== recorded;
  const content = contentOf(event);
  const metadata = content?.metadata;
  return {
    position: event.position.toString(),
    stream: event.stream,
    revision: event.revision.toString(),
    event_id: event.id,
    type: event.type,
    recorded_at: textIn(metadata, 'recorded_at'),
    hash_version: metadata === undefined ? null : (hashVersionOf({ metadata }) ?? null),
    prev_hash: textIn(metadata, 'prev_hash'),
    hash: textIn(metadata, 'hash'),
    data: content?.data ?? null,
    metadata: metadata ?? null,
    covered: content === null || texts_moved ? null : coveredBy(event),
    texts_moved,
  };
};

/** Lines with what the tokens in them stand for; null: it was erased. */
export const textsIn = async (
  { vault }: Pick<EventStore, 'vault'>,
  lines: readonly EventLine[],
): Promise<readonly (EventLine & { readonly texts: Readonly<Record<string, string | null>> })[]> => {
  const tokensOf = lines.map(({ covered, data, metadata }) =>
    tokensIn(covered ?? JSON.stringify([data, metadata])),
  );
  const found = await vault?.texts([...new Set(tokensOf.flat())]);
  return lines.map((line, at) => ({
    ...line,
    texts: Object.fromEntries((tokensOf[at] ?? []).map((token) => [token, found?.get(token) ?? null])),
  }));
};

interface KeyNames {
  readonly apiKeyNames: (
    keyIds: readonly string[],
  ) => Promise<readonly { readonly key_id: string; readonly name: string | null }[]>;
}

/** Lines with the name of the key that acted; null: it has none, or nobody acted by a key. */
export const actorsIn = async <Line extends EventLine>(
  { log, apiKeyNames }: KeyNames & { readonly log: Pick<EventStore, 'vault'> },
  lines: readonly Line[],
): Promise<readonly (Line & { readonly actor_name: string | null })[]> => {
  const actors = lines.map(({ metadata }) => (metadata === null ? null : actorIn(metadata)));
  const keys = await apiKeyNames([...new Set(actors)].filter((actor) => actor !== null));
  const tokens = keys.flatMap(({ name }) => (name === null ? [] : tokensIn(name)));
  const texts = await log.vault?.texts(tokens);
  const names = new Map(
    keys.map(({ key_id, name }) => {
      const isToken = name !== null && tokens.includes(name);
      return [key_id, isToken ? (texts?.get(name) ?? null) : name];
    }),
  );
  return lines.map((line, at) => ({ ...line, actor_name: names.get(actors[at] ?? '') ?? null }));
};

/** A moment of a log: a time in RFC 3339 UTC, a position, or neither: now. */
export interface Moment {
  readonly at?: string | undefined;
  readonly position?: bigint | undefined;
}

const codec = eventCodec(accountEvent);

const booksCodec = eventCodec(booksEvent);

/** Where the books were open, along the log. */
export const openingsIn = async (log: Pick<LogToRead, 'read'>): Promise<readonly Opening[]> => {
  const openings: Opening[] = [];
  for await (const event of log.read(BOOKS_STREAM))
    openings.push(
      ...[openingBy(event.position, booksCodec.decode(event))].filter((one) => one !== undefined),
    );
  return openings;
};

const isLater = (event: RecordedEvent, { at, position }: Moment, openings: readonly Opening[]): boolean => {
  const { recorded_at } = event.metadata;
  return (
    (position !== undefined && event.position > position) ||
    (at !== undefined &&
      typeof recorded_at === 'string' &&
      bookedBy(openings, event.position, recorded_at) > at)
  );
};

interface MomentAsked {
  readonly moment: Moment;
  readonly signal: AbortSignal;
}

const leftAt = async (
  log: Pick<LogToRead, 'read'>,
  tenant_id: string,
  { moment, signal, openings }: MomentAsked & { readonly openings: readonly Opening[] },
) => {
  let state = account.initialState;
  let last: RecordedEvent | undefined;
  for await (const event of log.read(accountStream(tenant_id))) {
    if (isLater(event, moment, openings)) break;
    signal.throwIfAborted();
    state = account.evolve(state, codec.decode(event));
    last = event;
  }
  return {
    tenant_id,
    plan: state.plan,
    balance_credits: state.balance,
    held_credits: state.held,
    available_credits: availableIn(state),
    total_credits_purchased: state.purchased,
    total_credits_used: state.used,
    total_credits_adjusted: state.adjusted,
    free_pages_used: state.free_pages_used,
    free_pages_held: state.free_pages_held,
    open_holds: state.holds.size,
    event: last === undefined ? null : placeIn(last),
  };
};

type LeftAt = Awaited<ReturnType<typeof leftAt>>;

/**
 * Tenants' accounts as their own events leave them at a moment, by the rules that decide, in the order of the IDs.
 * `event`: the last one that counts; null before the account was opened.
 */
export const balancesAt = async (
  log: Pick<LogToRead, 'read'>,
  tenantIds: readonly string[],
  asked: MomentAsked,
): Promise<LeftAt[]> => {
  const openings = asked.moment.at === undefined ? [] : await openingsIn(log);
  const found: LeftAt[] = [];
  for (const id of tenantIds) {
    found.push(await leftAt(log, id, { ...asked, openings }));
    // Of the embedded log they are read without a pause.
    await nextTurn();
  }
  return found;
};

const placeIn = (event: RecordedEvent) => {
  const { position, revision, event_id, type, recorded_at, hash } = eventLine(event);
  return { position, revision, event_id, type, recorded_at, hash };
};

/** A saved config with all its versions, oldest first. */
interface ConfigHistory {
  readonly versions: readonly ConfigVersion[];
  readonly revoked_at: string | null;
}

/** A config by its ID; undefined: there is none. */
export const configHistory = async (
  log: Pick<LogToRead, 'read'>,
  configId: string,
): Promise<ConfigHistory | undefined> => {
  const versions: ConfigVersion[] = [];
  let revoked_at: string | null = null;
  for await (const recorded of log.read(savedConfigStream(configId))) {
    const event = decodeAny(recorded);
    if (event.type === 'ConfigPublished') versions.push(event.data);
    if (event.type === 'ConfigRevoked') ({ revoked_at } = event.data);
  }
  return versions.length === 0 ? undefined : { versions, revoked_at };
};

/** The known state of a seal. `not_checked`: no kept audit has checked it. */
type SealState = 'holds' | 'differs' | 'not_checked';

interface Checked {
  readonly audit_id: string | null;
  /** Up to which position seals were looked at. */
  readonly until: bigint;
  /** The first seal that differs; undefined: none. */
  readonly differsFrom: bigint | undefined;
}

/** The last audit's findings about seals: one wrong seal breaks every later one. */
const checkedBy = (audit: AuditRecord | undefined): Checked => {
  const report = audit?.report;
  if (audit === undefined || report == null) return { audit_id: null, until: -1n, differsFrom: undefined };
  const places = report.findings
    .filter(({ check, position }) => check === 'seal' && position !== undefined)
    .map(({ position }) => BigInt(position ?? 0));
  const differsFrom = places.reduce<bigint | undefined>(
    (first, at) => (first === undefined || at < first ? at : first),
    undefined,
  );
  return { audit_id: audit.audit_id, until: BigInt(report.facts.position ?? -1), differsFrom };
};

const stateOf = (position: bigint, { until, differsFrom }: Checked): SealState => {
  if (position > until) return 'not_checked';
  return differsFrom !== undefined && position >= differsFrom ? 'differs' : 'holds';
};

/** Every seal of the log, newest first, with what the last audit said of it. */
export const sealList = async (log: Pick<LogToRead, 'read'>, audit: AuditRecord | undefined) => {
  const checked = checkedBy(audit);
  const seals: (SealEvent['data'] & { readonly revision: string })[] = [];
  for await (const recorded of log.read(SEALS_STREAM)) {
    const event = decodeAny(recorded);
    if (event.type === 'LogSealed') seals.push({ ...event.data, revision: recorded.revision.toString() });
  }
  const items = seals.map(({ seal, object, revision }, at) => {
    const before = seals[at - 1];
    const state = stateOf(BigInt(seal.position), checked);
    return {
      revision,
      position: seal.position,
      events: seal.events,
      made_at: seal.made_at,
      log_digest: seal.log_digest,
      continues: seal.previous === (before === undefined ? null : digestOfSeal(before.seal)),
      object_key: object?.key ?? null,
      retained_until: object?.retained_until ?? null,
      state,
      audit_id: state === 'not_checked' ? null : checked.audit_id,
    };
  });
  return items.reverse();
};
