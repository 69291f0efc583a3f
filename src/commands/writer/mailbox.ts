import type { AnyKind } from '../../../domain/kernel/decider.ts';
import type { Span } from '../../../domain/ports/log.ts';
import { BUSY, UNKNOWN, type Outcome } from './outcome.ts';
import type { Folded } from './streamFold.ts';

/** A caller waiting for its command's outcome. `command` undefined: it only asks for the state. */
export interface Entry<Kind extends AnyKind> {
  readonly command: Kind['command'] | undefined;
  /** On the clock of `performance.now`. */
  readonly deadline: number;
  readonly answer: (outcome: Outcome<Kind>) => void;
  readonly fail: (error: unknown) => void;
  /** Of its command, where a trace is recorded. */
  readonly span?: Span;
  /** Its deadline passed: it was answered, and is not decided again. */
  gone: boolean;
}

/** The queue of one stream, and what its writer knows. At most one turn runs at a time. */
export interface Mailbox<Kind extends AnyKind> {
  readonly stream: string;
  readonly tenantId: string | null;
  /** In the order of arrival, and so of deadlines. */
  waiting: Entry<Kind>[];
  inFlight: readonly Entry<Kind>[];
  /** The committed state; undefined until loaded. */
  warm: Folded<Kind['state']> | undefined;
  /** When the log last confirmed `warm`. */
  confirmedAt: number;
  /** The connection over which it did; see `EventStore.epoch`. */
  epoch: number;
  /** Commands known to be in the stream, the latest few. */
  readonly recent: Set<string>;
  readonly recentMax: number;
  running: boolean;
  /** What is known may be of another log: the next turn reads anew. */
  outdated: boolean;
  /** Set when going on would not be safe; every command fails with it. */
  halted: Error | undefined;
  /** Commands a turn may take; halved while the log refuses a batch as too large. */
  limit: number;
  snapshotRevision: bigint;
  saving: boolean;
}

/** Commands of a stream that a mailbox which stays in memory remembers. */
const RECENT_MAX = 512;

export const newMailbox = <Kind extends AnyKind>(
  stream: string,
  tenantId: string | null,
  limit: number,
): Mailbox<Kind> => ({
  stream,
  tenantId,
  waiting: [],
  inFlight: [],
  warm: undefined,
  confirmedAt: -Infinity,
  epoch: 0,
  recent: new Set(),
  recentMax: RECENT_MAX,
  running: false,
  outdated: false,
  halted: undefined,
  limit,
  snapshotRevision: -1n,
  saving: false,
});

/** Remembers that a command is in the stream, and forgets the oldest. */
export const remember = (
  { recent, recentMax }: Pick<Mailbox<AnyKind>, 'recent' | 'recentMax'>,
  commandId: string,
): void => {
  recent.add(commandId);
  if (recent.size <= recentMax) return;
  for (const oldest of recent) {
    recent.delete(oldest);
    return;
  }
};

/**
 * Answers those whose time is up. One still in the queue was not touched: `busy`. One in flight stays
 * with its frozen batch, whatever becomes of it: `unknown`.
 */
export const expire = <Kind extends AnyKind>(box: Mailbox<Kind>, now: number): void => {
  for (const entry of box.inFlight) {
    if (entry.gone || entry.deadline > now) continue;
    entry.gone = true;
    entry.answer(UNKNOWN);
  }
  const first = box.waiting[0];
  if (first === undefined || first.deadline > now) return;
  const late = box.waiting.filter(({ deadline }) => deadline <= now);
  box.waiting = box.waiting.slice(late.length);
  for (const entry of late) {
    entry.gone = true;
    entry.answer(BUSY);
  }
};

/** Puts entries back in front of those that wait: their batch had no room for them. */
export const giveBack = <Kind extends AnyKind>(box: Mailbox<Kind>, entries: readonly Entry<Kind>[]): void => {
  if (entries.length > 0) box.waiting = [...entries, ...box.waiting];
};
