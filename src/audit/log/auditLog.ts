import type { EventFeed, RecordedEvent } from '../../../domain/ports/log.ts';
import type { Findings } from '../findings.ts';
import { chainsCheck, type AuditedChains, type StoredWatcher } from './chainsCheck.ts';
import { rulesCheck, type DecodedWatcher } from './rulesCheck.ts';

/** What the log was, as far as it was read. */
export interface LogFacts {
  readonly events: number;
  readonly streams: number;
  readonly tenants: number;
  readonly position: string | null;
  /** Times of recording; null in an empty log. */
  readonly first_at: string | null;
  readonly last_at: string | null;
}

/** Something else that looks at every event of the same reading. */
export interface Watcher extends StoredWatcher, DecodedWatcher {}

/** What is read of a log, and how far. */
interface Reading {
  readonly feed: Pick<EventFeed, 'subscribe'>;
  /** The last position that is looked at; without it, all that is there. */
  readonly upTo?: bigint | undefined;
  readonly onProgress?: ((events: number, position: bigint) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LogAudit extends Omit<Reading, 'upTo'> {
  readonly findings: Findings;
  /** Positions of this log have no gaps: it is the embedded one. */
  readonly dense: boolean;
  readonly watchers?: readonly Watcher[];
}

export interface AuditedLog extends Pick<AuditedChains, 'heads' | 'digest'> {
  readonly facts: LogFacts;
}

const PROGRESS_EVERY = 10_000;

/** Every event of the log as it is now, in its order. */
export async function* everything(
  feed: Pick<EventFeed, 'subscribe'>,
  signal?: AbortSignal,
): AsyncGenerator<RecordedEvent> {
  for await (const item of feed.subscribe({ own: true, ...(signal === undefined ? {} : { signal }) })) {
    if (item.kind === 'caught_up') return;
    if (item.kind === 'event') yield item.event;
  }
}

/** How much was read. */
interface Read {
  readonly events: number;
  readonly position: string | null;
}

/** Shows every event to `look`, in the order of the log. */
export const readThrough = async (
  { feed, upTo, onProgress, signal }: Reading,
  look: (recorded: RecordedEvent) => void,
): Promise<Read> => {
  let events = 0;
  let position: bigint | undefined;
  for await (const recorded of everything(feed, signal)) {
    if (upTo !== undefined && recorded.position > upTo) break;
    events += 1;
    ({ position } = recorded);
    look(recorded);
    if (events % PROGRESS_EVERY === 0) onProgress?.(events, recorded.position);
  }
  signal?.throwIfAborted();
  return { events, position: position?.toString() ?? null };
};

/** Reads the whole log once and checks all that events alone can tell. */
export const auditLog = async ({
  findings,
  dense,
  watchers = [],
  ...reading
}: LogAudit): Promise<AuditedLog> => {
  const chains = chainsCheck(findings, { dense, watchers });
  const rules = rulesCheck(findings, watchers);
  const { events, position } = await readThrough(reading, (recorded) => {
    chains.look(recorded);
    rules.look(recorded);
  });
  const { tenants, first_at, last_at } = rules.finish();
  const { streams, heads, digest } = chains.result();
  return { facts: { events, streams, tenants, position, first_at, last_at }, heads, digest };
};
