import { chainHash, eventIdOfHash, flawOfHash, hashVersionOf } from '../../../domain/kernel/chain.ts';
import type { RecordedEvent } from '../../../domain/ports/eventStore.ts';
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
 * Commands are stamped when they come, and wait for the account; clocks of several processes differ. Beyond
 * this an event was put into a time that had passed.
 */
const BACKWARDS_MAX_MS = 10 * 60_000;

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

/** One finding for one wrong, however much hangs on it: the chain goes on from what the event carries. */
const checkLink = (findings: Findings, event: RecordedEvent, before: Link | undefined): Link => {
  findings.checked('chain');
  const { revision, metadata, stream } = event;
  checkPlace(findings, event, before);
  const carried = metadata['hash'];
  const hash = chainHash(event);
  const hashVersion = hashVersionOf(event);
  checkHash(findings, event, hash);
  if (hashVersion !== undefined && hashVersion < (before?.hashVersion ?? 1))
    wrong(findings, 'chain', event)(
      `${stream} revision ${revision} goes back to hash version ${hashVersion}: it was not written by this service.`,
      before?.hashVersion,
      hashVersion,
    );
  // One text for both while they agree: there are many streams.
  const latestMs = checkClock(findings, event, before);
  const same = typeof carried === 'string' && carried === hash ? carried : hash;
  return { revision, carried, hash: same, hashVersion, latestMs };
};

type Identified = Place & Pick<RecordedEvent, 'id'>;

/** Positions rise; those of an embedded log are dense, so a missing one is a removed event. */
const orderCheck = (findings: Findings, dense: boolean) => {
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
    if (!ids.add(id.toLowerCase())) say(`The event ID ${id} occurs twice.`, undefined, id);
    last = position;
  };
};

/** Checks order, revisions and hash chains of all streams at once. `dense`: positions have no gaps. */
export const streamsCheck = (findings: Findings, { dense }: { readonly dense: boolean }) => {
  const links = new Map<string, Link>();
  const inOrder = orderCheck(findings, dense);
  return {
    /** Gives the hash that the event's content has. */
    follow: (event: RecordedEvent): string => {
      inOrder(event);
      const link = checkLink(findings, event, links.get(event.stream));
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
