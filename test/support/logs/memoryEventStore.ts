import type { AppendResult, EventStore, ReadOptions } from '../../../domain/ports/log.ts';
import type { ExpectedRevision, NewEvent, RecordedEvent } from '../../../domain/kernel/recorded.ts';

/**
 * What to do with the next append. `commit_then_silence`, `silence`: no answer ever, with or without the
 * events written. `commit_then_unknown`, `unknown`: the same, but it says that it does not know.
 */
export type Fault =
  | 'ok'
  | 'commit_then_unknown'
  | 'unknown'
  | 'commit_then_silence'
  | 'silence'
  | 'throw'
  | 'commit_then_throw'
  | 'too_large';

/** A log in memory whose appends can be made to fail, with EventStoreDB's rules of idempotency. */
export interface MemoryEventStore extends EventStore {
  /** Applied to the appends to come, one each; then all is well. */
  readonly script: Fault[];
  /** Called before each append is looked at; lets a test write first. */
  beforeAppend: ((stream: string) => void) | undefined;
  /** Every append that was asked for. */
  readonly appends: {
    readonly stream: string;
    readonly expected: ExpectedRevision;
    readonly ids: string[];
  }[];
  readonly streams: Map<string, RecordedEvent[]>;
  readsFail: boolean;
  /** Reads never get an answer. */
  readsHang: boolean;
}

export const memoryEventStore = (): MemoryEventStore => {
  const streams = new Map<string, RecordedEvent[]>();
  let position = 0n;
  const write = (stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): AppendResult => {
    const past = streams.get(stream) ?? [];
    const current = past.length - 1;
    const at = expected === 'no_stream' ? -1 : Number(expected);
    if (current < at) return { kind: 'conflict', actual: actualOf(past) };
    if (current > at) return repeated(past, at, events);
    for (const event of events) {
      position += 1n;
      past.push({ ...structuredClone(event), stream, revision: BigInt(past.length), position });
    }
    streams.set(stream, past);
    return { kind: 'appended', revision: BigInt(past.length - 1), position };
  };
  const store: MemoryEventStore = {
    script: [],
    beforeAppend: undefined,
    appends: [],
    streams,
    readsFail: false,
    readsHang: false,
    append: (stream, expected, events) => {
      store.appends.push({ stream, expected, ids: events.map(({ id }) => id) });
      store.beforeAppend?.(stream);
      const fault = store.script.shift() ?? 'ok';
      if (fault === 'too_large') return Promise.resolve(TOO_LARGE);
      const commits = fault === 'ok' || fault.startsWith('commit');
      const result = commits ? write(stream, expected, events) : UNKNOWN;
      return answer(fault, result);
    },
    read: (stream, options = {}) => readFrom(store, streams.get(stream) ?? [], options),
    close: () => Promise.resolve(),
  };
  return store;
};

const UNKNOWN: AppendResult = { kind: 'unknown', reason: 'scripted' };
const TOO_LARGE: AppendResult = { kind: 'rejected', reason: 'too_large', detail: 'scripted' };

const answer = (fault: Fault, result: AppendResult): Promise<AppendResult> => {
  if (fault.endsWith('silence')) return new Promise(() => undefined);
  if (fault.endsWith('throw')) return Promise.reject(new Error('scripted'));
  return Promise.resolve(fault === 'ok' ? result : UNKNOWN);
};

const actualOf = (past: readonly RecordedEvent[]): ExpectedRevision =>
  past.length === 0 ? 'no_stream' : BigInt(past.length - 1);

/** The same IDs from `at` + 1 on, one by one, are a repeat; anything else is a conflict. */
const repeated = (past: readonly RecordedEvent[], at: number, events: readonly NewEvent[]): AppendResult => {
  const there = past.slice(at + 1, at + 1 + events.length);
  const last = there.at(-1);
  const same = there.length === events.length && there.every(({ id }, i) => id === events[i]?.id);
  if (!same || last === undefined) return { kind: 'conflict', actual: actualOf(past) };
  return { kind: 'appended', revision: last.revision, position: last.position };
};

async function* readFrom(
  store: MemoryEventStore,
  past: readonly RecordedEvent[],
  { from, direction = 'forwards', limit = Infinity }: ReadOptions,
): AsyncGenerator<RecordedEvent> {
  await (store.readsHang ? new Promise(() => undefined) : undefined);
  if (store.readsFail) throw new Error('scripted: no log');
  const ordered = direction === 'forwards' ? [...past] : past.toReversed();
  const isBefore = ({ revision }: RecordedEvent) =>
    from !== undefined && (direction === 'forwards' ? revision < from : revision > from);
  yield* ordered.filter((event) => !isBefore(event)).slice(0, limit);
}
