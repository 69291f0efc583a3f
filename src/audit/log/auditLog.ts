import { decodeAny, type AnyEvent } from '../../../domain/catalogue.ts';
import { UndecodableEvent } from '../../../domain/kernel/codec.ts';
import { LOG_DIGEST_START, logDigestAfter } from '../../../domain/kernel/logDigest.ts';
import type { EventFeed } from '../../../domain/ports/eventFeed.ts';
import type { RecordedEvent } from '../../../domain/ports/eventStore.ts';
import { accountsCheck } from '../money/accounts.ts';
import type { Books } from '../money/accountBooks.ts';
import { auditedEvent, recordedAt, type AuditedEvent } from './auditedEvent.ts';
import { claimsCheck } from '../money/claims.ts';
import { compactSet } from './compactSet.ts';
import { wrong, type Findings } from '../findings.ts';
import { checkOwner } from './owners.ts';
import { RACE_MS, reference } from '../money/reference.ts';
import { checkTimes } from '../money/saleRules.ts';
import { batchesCheck } from '../work/batches.ts';
import { savedConfigsCheck } from '../work/savedConfigs.ts';
import { storedCheck } from './storedForm.ts';
import { streamsCheck, type StreamHead } from './streams.ts';
import { operationsCheck } from '../work/operations.ts';
import { pipelinesCheck } from '../work/pipelines.ts';
import { worksCheck } from '../work/works.ts';

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
export interface Watcher {
  /** Every event, also one that cannot be read, with the hash of its content and the digest over the log up to it. */
  readonly stored?: (event: RecordedEvent, hash: string, digest: string) => void;
  readonly decoded?: (event: AuditedEvent) => void;
}

export interface LogAudit {
  readonly feed: Pick<EventFeed, 'subscribe'>;
  readonly findings: Findings;
  /** Positions of this log have no gaps: it is the embedded one. */
  readonly dense: boolean;
  readonly watchers?: readonly Watcher[];
  readonly onProgress?: ((events: number, position: bigint) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface AuditedLog {
  readonly facts: LogFacts;
  readonly heads: () => IterableIterator<readonly [string, StreamHead]>;
  /** Over positions and hashes of all events. */
  readonly digest: string;
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

/** An event that cannot be read is reported, and the audit goes on without it. */
const decodedOr = (findings: Findings, recorded: RecordedEvent): AnyEvent | undefined => {
  findings.checked('schema');
  try {
    return decodeAny(recorded);
  } catch (error) {
    if (!(error instanceof UndecodableEvent)) throw error;
    wrong(findings, 'schema', recorded)(`It cannot be read: ${error.message}`);
    return undefined;
  }
};

/** Stores hand out data and metadata as they lie there, and parse them when they are looked at. */
const isJson = (recorded: RecordedEvent): boolean => {
  try {
    return typeof recorded.data === 'object' && typeof recorded.metadata === 'object';
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
};

/** All rules that need the content of events. */
const rulesOf = (books: Books) => {
  const [accounts, claims, works] = [accountsCheck(books), claimsCheck(books), worksCheck(books)];
  const savedConfigs = savedConfigsCheck(books.findings);
  const pipelines = pipelinesCheck(books);
  const operations = operationsCheck(books);
  const batches = batchesCheck(books.findings);
  return {
    tenants: accounts.tenants,
    apply: (event: AuditedEvent): void => {
      checkOwner(books.findings, event);
      books.reference.apply(event);
      accounts.apply(event);
      claims.apply(event);
      works.apply(event);
      savedConfigs(event);
      pipelines.apply(event);
      operations.apply(event);
      batches(event);
      if (event.type === 'LlmCostLogged') checkTimes(books, event);
    },
    finish: (newest: string): void => {
      claims.finish(newest);
      if (newest !== '') works.finish(newest);
      pipelines.finish();
      operations.finish();
      if (newest !== '') accounts.finish(new Date(Date.parse(newest) - RACE_MS).toISOString());
    },
  };
};

const seenTimes = () => {
  let [first, last] = ['', ''];
  return {
    see: (at: string): void => {
      if (at === '') return;
      if (first === '' || at < first) first = at;
      if (at > last) last = at;
    },
    first: () => (first === '' ? null : first),
    last: () => (last === '' ? null : last),
  };
};

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** Reads the whole log once and checks all that events alone can tell. */
export const auditLog = async (audit: LogAudit): Promise<AuditedLog> => {
  const { findings, dense, watchers = [] } = audit;
  const streams = streamsCheck(findings, { dense });
  const inFile = storedCheck(findings);
  const rules = rulesOf({ findings, reference: reference(findings), once: compactSet() });
  const times = seenTimes();
  let events = 0;
  let position: bigint | undefined;
  let digest = LOG_DIGEST_START;
  const look = (recorded: RecordedEvent): void => {
    if (!isJson(recorded)) {
      streams.skip(recorded);
      inFile.skip(recorded);
      digest = logDigestAfter(digest, recorded.position, '');
      return;
    }
    const hash = streams.follow(recorded);
    inFile.see(recorded);
    digest = logDigestAfter(digest, recorded.position, hash);
    const at = recordedAt(recorded);
    times.see(INSTANT.test(at) ? at : '');
    const decoded = decodedOr(findings, recorded);
    const event = decoded === undefined ? undefined : auditedEvent(recorded, decoded);
    if (event !== undefined) rules.apply(event);
    for (const watcher of watchers) {
      watcher.stored?.(recorded, hash, digest);
      if (event !== undefined) watcher.decoded?.(event);
    }
  };
  for await (const recorded of everything(audit.feed, audit.signal)) {
    events += 1;
    ({ position } = recorded);
    look(recorded);
    if (events % PROGRESS_EVERY === 0) audit.onProgress?.(events, recorded.position);
  }
  audit.signal?.throwIfAborted();
  rules.finish(times.last() ?? '');
  const facts = {
    events,
    streams: streams.count(),
    tenants: rules.tenants(),
    position: position?.toString() ?? null,
    first_at: times.first(),
    last_at: times.last(),
  };
  return { facts, heads: streams.heads, digest };
};
