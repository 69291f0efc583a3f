import { chainHash, eventIdOfHash, flawOfHash, hashVersionOf, sha256 } from '../../../domain/kernel/chain.ts';
import type { RecordedEvent } from '../../../domain/ports/log.ts';
import { recordedAt } from './auditedEvent.ts';
import { compactSet } from './compactSet.ts';
import { wrong, type Findings, type Place } from '../findings.ts';

/** The last event of a stream, by the hash that its content has. */
export interface StreamHead {
  readonly revision: bigint;
  readonly hash: string;
}

/** Of an event that cannot be read: the next one may name any hash. */
const UNKNOWN = Symbol('unknown');

interface Link {
  readonly revision: bigint;
  /** The hash that the event carries: what the next one must name. */
  readonly carried: unknown;
  /** The hash that its content has. */
  readonly hash: string;
  /** undefined for one that this program does not know. */
  readonly hashVersion: number | undefined;
  /** The latest time of recording in the stream until here, ms; NaN where none says. */
  readonly latestMs: number;
}

/**
 * Clocks of several processes differ, by ten minutes where each is wrong by five, and a command is written up to a
 * minute beyond its caller's patience. Beyond this an event was put into a time that had passed.
 */
const BACKWARDS_MAX_MS = 12 * 60_000;

/** A stream's `recorded_at` may not run backwards: what comes late is recorded late. */
const checkClock = (findings: Findings, event: RecordedEvent, before: Link | undefined): number => {
  findings.checked('time');
  const at = recordedAt(event);
  const [ms, latest] = [Date.parse(at), before?.latestMs ?? NaN];
  if (ms < latest - BACKWARDS_MAX_MS)
    wrong(findings, 'time', event)(
      `${event.stream} revision ${event.revision} was recorded before its predecessor: time runs backwards.`,
      `not before ${new Date(latest).toISOString()}`,
      at,
    );
  return ms > latest || Number.isNaN(latest) ? ms : latest;
};

const short = (hash: unknown): string => (typeof hash === 'string' ? hash.slice(0, 16) : String(hash));

const checkPlace = (findings: Findings, event: RecordedEvent, before: Link | undefined): void => {
  const { revision, metadata, stream } = event;
  const say = wrong(findings, 'chain', event);
  const next = before === undefined ? 0n : before.revision + 1n;
  const [due, named] = [before?.carried ?? null, metadata['prev_hash'] ?? null];
  if (revision !== next)
    say(
      `${stream} continues with revision ${revision} where ${next} belongs: events were removed or duplicated.`,
      next,
      revision,
    );
  else if (due !== UNKNOWN && named !== due)
    say(
      `${stream} revision ${revision} does not name the event before it: ` +
        'one of the two was changed, moved or inserted.',
      short(due),
      short(named),
    );
};

/** What an event says of itself against what it holds. */
const checkHash = (findings: Findings, event: RecordedEvent, hash: string): void => {
  const flaw = flawOfHash(event, hash);
  if (flaw === undefined) return;
  const { revision, stream, metadata, id } = event;
  const say = wrong(findings, 'chain', event);
  const at = `${stream} revision ${revision}`;
  if (flaw.reason === 'hash')
    say(
      `${at} does not have the hash that it carries: it was changed after it was written.`,
      short(metadata['hash']),
      short(hash),
    );
  else if (flaw.reason === 'id')
    say(
      `${at} has another event ID than its hash says: the ID was changed after it was written.`,
      eventIdOfHash(hash),
      id,
    );
  else
    say(
      `${at} has hash version ${JSON.stringify(metadata['hash_version'])}, which this program does not know.`,
    );
};

/** An event, and what its hash is over where that is known. */
interface Followed {
  readonly event: RecordedEvent;
  readonly text: string | undefined;
}

/** One finding for one wrong, however much hangs on it: the chain goes on from what the event carries. */
const checkLink = (findings: Findings, { event, text }: Followed, before: Link | undefined): Link => {
  findings.checked('chain');
  const { revision, metadata, stream } = event;
  checkPlace(findings, event, before);
  const carried = metadata['hash'];
  const hash = text === undefined ? chainHash(event) : sha256(text);
  const hashVersion = hashVersionOf(event);
  checkHash(findings, event, hash);
  if (hashVersion !== undefined && hashVersion < (before?.hashVersion ?? 1))
    wrong(findings, 'chain', event)(
      `${stream} revision ${revision} goes back to hash version ${hashVersion}: it was not written by this service.`,
      before?.hashVersion,
      hashVersion,
    );
  const latestMs = checkClock(findings, event, before);
  // One text for both while they agree, and not a part of the metadata's text: there are many streams.
  return { revision, carried: carried === hash ? hash : carried, hash, hashVersion, latestMs };
};

type Identified = Place & Pick<RecordedEvent, 'id'>;

interface StreamsOptions {
  /** Positions have no gaps. */
  readonly dense: boolean;
  /** `by_hash`: every event is of a version whose ID follows from its hash, so that no other event can have it. */
  readonly ids: 'all' | 'by_hash';
}

/** Positions rise; those of an embedded log are dense, so a missing one is a removed event. */
const orderCheck = (findings: Findings, { dense, ids: compared }: StreamsOptions) => {
  const ids = compactSet();
  let last: bigint | undefined;
  return (event: Identified): void => {
    findings.checked('order');
    const { position, id } = event;
    const say = wrong(findings, 'order', event);
    const due = (last ?? 0n) + 1n;
    if (last !== undefined && position <= last)
      say(`Position ${position} comes after ${last}: the log is out of order.`);
    else if (dense && position !== due)
      say(`Before position ${position} events are missing: ${due} should come next.`, due, position);
    if (compared === 'all' && !ids.add(id.toLowerCase()))
      say(`The event ID ${id} occurs twice.`, undefined, id);
    last = position;
  };
};

/** Checks order, revisions and hash chains of all streams at once. */
export const streamsCheck = (findings: Findings, options: StreamsOptions) => {
  const links = new Map<string, Link>();
  const inOrder = orderCheck(findings, options);
  return {
    /** Gives the hash that the event's content has. `text`: what it is over, where that is known. */
    follow: (event: RecordedEvent, text?: string): string => {
      inOrder(event);
      const link = checkLink(findings, { event, text }, links.get(event.stream));
      links.set(event.stream, link);
      return link.hash;
    },
    /** Goes on after an event that is no JSON any more. */
    skip: (event: Identified): void => {
      inOrder(event);
      const latestMs = links.get(event.stream)?.latestMs ?? NaN;
      const unknown = { carried: UNKNOWN, hash: '', hashVersion: undefined, latestMs };
      links.set(event.stream, { revision: event.revision, ...unknown });
      wrong(
        findings,
        'chain',
        event,
      )(`${event.stream} revision ${event.revision} is no longer JSON: it was changed after it was written.`);
    },
    heads: (): IterableIterator<readonly [string, StreamHead]> => links.entries(),
    count: () => links.size,
  };
};
