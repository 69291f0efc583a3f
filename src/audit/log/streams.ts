import { chainHash, eventIdOfHash, flawOfHash, hashVersionOf } from '../../../domain/kernel/chain.ts';
import type { RecordedEvent } from '../../../domain/ports/eventStore.ts';
import { placeOf, recordedAt } from './auditedEvent.ts';
import { compactSet } from './compactSet.ts';
import type { Findings } from '../findings.ts';

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
    findings.add({
      check: 'time',
      ...placeOf(event),
      message:
        `${event.stream} revision ${event.revision} was recorded before the event before it: its ` +
        'time runs backwards.',
      expected: `not before ${new Date(latest).toISOString()}`,
      found: at,
    });
  return ms > latest || Number.isNaN(latest) ? ms : latest;
};

/** Follows all streams at once. */
export interface StreamsCheck {
  /** Gives the hash that the event's content has. */
  readonly follow: (event: RecordedEvent) => string;
  /** Goes on after an event that is no JSON any more. */
  readonly skip: (event: Pick<RecordedEvent, 'id' | 'stream' | 'revision' | 'position'>) => void;
  readonly heads: () => IterableIterator<readonly [string, StreamHead]>;
  readonly count: () => number;
}

const short = (hash: unknown): string => (typeof hash === 'string' ? hash.slice(0, 16) : String(hash));

const checkPlace = (findings: Findings, event: RecordedEvent, before: Link | undefined): void => {
  const { revision, metadata, stream } = event;
  const place = { check: 'chain', ...placeOf(event) } as const;
  const next = before === undefined ? 0n : before.revision + 1n;
  const [due, named] = [before?.carried ?? null, metadata['prev_hash'] ?? null];
  if (revision !== next)
    findings.add({
      ...place,
      message:
        `${stream} goes on with revision ${revision} where ${next} belongs: events were removed, ` +
        'or put in twice.',
      expected: next.toString(),
      found: revision.toString(),
    });
  else if (due !== UNKNOWN && named !== due)
    findings.add({
      ...place,
      message:
        `${stream} revision ${revision} does not name the event before it: one of the two was ` +
        'changed, moved or put in.',
      expected: short(due),
      found: short(named),
    });
};

/** What an event says of itself against what it holds. */
const checkHash = (findings: Findings, event: RecordedEvent, hash: string): void => {
  const flaw = flawOfHash(event, hash);
  if (flaw === undefined) return;
  const { revision, stream, metadata, id } = event;
  const place = { check: 'chain', ...placeOf(event) } as const;
  const at = `${stream} revision ${revision}`;
  if (flaw.reason === 'hash')
    findings.add({
      ...place,
      message: `${at} does not have the hash that it carries: it was changed after it was written.`,
      expected: short(metadata['hash']),
      found: short(hash),
    });
  else if (flaw.reason === 'id')
    findings.add({
      ...place,
      message: `${at} has another event ID than its hash says: the ID was changed after it was written.`,
      expected: eventIdOfHash(hash),
      found: id,
    });
  else
    findings.add({
      ...place,
      message: `${at} has hash version ${JSON.stringify(metadata['hash_version'])}, which this program does not know.`,
    });
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
    findings.add({
      check: 'chain',
      ...placeOf(event),
      message:
        `${stream} revision ${revision} goes back to hash version ${hashVersion}: it was not ` +
        'written by this service.',
      expected: String(before?.hashVersion),
      found: String(hashVersion),
    });
  // One text for both while they agree: there are many streams.
  const latestMs = checkClock(findings, event, before);
  const same = typeof carried === 'string' && carried === hash ? carried : hash;
  return { revision, carried, hash: same, hashVersion, latestMs };
};

/** Positions rise; those of an embedded log are dense, so a missing one is a removed event. */
const orderCheck = (findings: Findings, dense: boolean) => {
  const ids = compactSet();
  let last: bigint | undefined;
  return (event: Pick<RecordedEvent, 'id' | 'stream' | 'revision' | 'position'>): void => {
    findings.checked('order');
    const { position, id } = event;
    const place = { check: 'order', ...placeOf(event) } as const;
    if (last !== undefined && position <= last)
      findings.add({
        ...place,
        message: `Position ${position} comes after ${last}: the log is out of order.`,
      });
    else if (dense && position !== (last ?? 0n) + 1n)
      findings.add({
        ...place,
        message: `Before position ${position} events are missing: ${(last ?? 0n) + 1n} should come next.`,
        expected: ((last ?? 0n) + 1n).toString(),
        found: position.toString(),
      });
    if (!ids.add(id.toLowerCase()))
      findings.add({ ...place, message: `The event ID ${id} occurs twice.`, found: id });
    last = position;
  };
};

/** Checks order, revisions and hash chains. `dense`: positions of this log have no gaps. */
export const streamsCheck = (findings: Findings, { dense }: { readonly dense: boolean }): StreamsCheck => {
  const links = new Map<string, Link>();
  const inOrder = orderCheck(findings, dense);
  return {
    follow: (event) => {
      inOrder(event);
      const link = checkLink(findings, event, links.get(event.stream));
      links.set(event.stream, link);
      return link.hash;
    },
    skip: (event) => {
      inOrder(event);
      const latestMs = links.get(event.stream)?.latestMs ?? NaN;
      const unknown = { carried: UNKNOWN, hash: '', hashVersion: undefined, latestMs };
      links.set(event.stream, { revision: event.revision, ...unknown });
      findings.add({
        check: 'chain',
        ...placeOf(event),
        message: `${event.stream} revision ${event.revision} is no JSON any more: it was changed after it was written.`,
      });
    },
    heads: () => links.entries(),
    count: () => links.size,
  };
};
