import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} from 'node:fs';

/** An event as the double keeps it. Data stays bytes: the server does not look into it either. */
export interface StoredEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  /** 100 ns ticks since the epoch. */
  readonly created: string;
}

export type ProposedEvent = Pick<StoredEvent, 'id' | 'type' | 'contentType' | 'data' | 'metadata'>;
export type Expected = number | 'no_stream' | 'any' | 'stream_exists';

export type Verdict =
  | { readonly kind: 'ok'; readonly revision: number; readonly position: number | undefined }
  | { readonly kind: 'wrong_expected_version'; readonly current: number }
  | { readonly kind: 'too_large' };

export interface DoubleLogOptions {
  /** Keeps the log in this file, a line per append; `synced` says when it is on the disk. */
  readonly file?: string;
  readonly maxAppendBytes?: number;
  /** IDs remembered for `any`; the server has 8 MiB of them, some 80,000. */
  readonly recentIdsMax?: number;
}

/** The log and the commit check of EventStoreDB, its idempotency table taken literally. */
export interface DoubleLog {
  readonly append: (stream: string, expected: Expected, events: readonly ProposedEvent[]) => Verdict;
  readonly all: () => readonly StoredEvent[];
  readonly stream: (name: string) => readonly StoredEvent[];
  /** What a read of the stream gives: the last `$maxCount` events, where its metadata says so. */
  readonly visible: (name: string) => readonly StoredEvent[];
  /**
   * Answers once what was appended is on the disk: at once without a file, else with all else that was appended in the
   * same turn, as the server writes its queue out.
   */
  readonly synced: (answer: () => void) => void;
  /** Resolves at the next append after the log had `length` events. */
  readonly grown: (length: number) => Promise<void>;
  /** Keeps the first events only, as a server has them that was restored from an older copy. */
  readonly goBack: (to: number) => void;
  readonly close: () => void;
}

/** What an event takes in the transaction log, roughly: positions are offsets, not a count. */
const RECORD_BYTES = 120;

export const doubleLog = (options: DoubleLogOptions = {}): DoubleLog => {
  const { maxAppendBytes = 1024 * 1024, recentIdsMax = 80_000 } = options;
  const state = emptyState(recentIdsMax);
  const journal = options.file === undefined ? undefined : openJournal(options.file, state);
  let wake: (() => void)[] = [];

  const write = (stream: string, current: number, events: readonly ProposedEvent[]): Verdict => {
    const stored = place(state, { stream, current, events });
    journal?.write(stored);
    for (const event of stored) remember(state, event);
    for (const waiting of wake) waiting();
    wake = [];
    const last = stored.at(-1);
    return { kind: 'ok', revision: last?.revision ?? current, position: last?.position };
  };

  return {
    append: (stream, expected, events) => {
      const bytes = events.reduce((sum, { data, metadata, type }) => sum + sizeOf(data, metadata, type), 0);
      if (bytes > maxAppendBytes) return { kind: 'too_large' };
      const current = (state.streams.get(stream)?.length ?? 0) - 1;
      const earlier = decide(state, { stream, expected, current, events });
      return earlier ?? write(stream, current, events);
    },
    all: () => state.all,
    stream: (name) => state.streams.get(name) ?? [],
    visible: (name) => {
      const events = state.streams.get(name) ?? [];
      return events.slice(-Math.min(maxCountOf(state, name), events.length));
    },
    grown: (length) =>
      state.all.length > length ? Promise.resolve() : new Promise((resolve) => wake.push(resolve)),
    synced: (answer) => (journal === undefined ? answer() : journal.synced(answer)),
    goBack: (to) => {
      const kept = state.all.slice(0, to);
      state.all.length = 0;
      state.streams.clear();
      for (const event of kept) remember(state, event);
      state.recent.clear();
      journal?.rewrite(kept);
    },
    close: () => journal?.close(),
  };
};

const sizeOf = (data: Uint8Array, metadata: Uint8Array, type: string): number =>
  data.length + metadata.length + 2 * type.length;

interface State {
  readonly all: StoredEvent[];
  readonly streams: Map<string, StoredEvent[]>;
  /** In order of insertion, the oldest evicted. Keyed by ID alone: another stream displaces an entry. */
  readonly recent: Map<string, StoredEvent>;
  readonly recentIdsMax: number;
}

const emptyState = (recentIdsMax: number): State => ({
  all: [],
  streams: new Map(),
  recent: new Map(),
  recentIdsMax,
});

/** A stream's metadata are the last event of `$$<stream>`. */
const maxCountOf = ({ streams }: State, name: string): number => {
  const metadata = streams.get(`$$${name}`)?.at(-1);
  if (metadata === undefined) return Infinity;
  const { $maxCount } = JSON.parse(Buffer.from(metadata.data).toString()) as { readonly $maxCount?: number };
  return $maxCount ?? Infinity;
};

interface Attempt {
  readonly stream: string;
  readonly expected: Expected;
  readonly current: number;
  readonly events: readonly ProposedEvent[];
}

/** undefined: to be written. */
const decide = (state: State, attempt: Attempt): Verdict | undefined => {
  const { expected, current } = attempt;
  const wrong: Verdict = { kind: 'wrong_expected_version', current };
  if (expected === 'any') return fromRecent(state, attempt);
  if (expected === 'stream_exists') return current < 0 ? wrong : fromRecent(state, attempt);

  const revision = expected === 'no_stream' ? -1 : expected;
  if (current === revision) return undefined;
  if (current < revision) return wrong;
  return fromLog(state, attempt, revision) ?? wrong;
};

/** Exact revision: every ID of the batch must stand at its own revision after the expected one. */
const fromLog = (state: State, { stream, events }: Attempt, revision: number): Verdict | undefined => {
  const log = state.streams.get(stream) ?? [];
  const same = events.every(({ id }, index) => log[revision + 1 + index]?.id === id);
  if (!same) return undefined;
  const last = revision + events.length;
  return { kind: 'ok', revision: last, position: log[last]?.position };
};

/** `any`: only the bounded cache knows. A repetition that fell out of it is written twice. */
const fromRecent = (state: State, { stream, current, events }: Attempt): Verdict | undefined => {
  const known = events
    .map(({ id }) => state.recent.get(id))
    .map((event) => (event?.stream === stream ? event : undefined));
  if (known[0] === undefined) return undefined;
  const last = known.at(-1);
  if (last === undefined || known.includes(undefined)) return { kind: 'wrong_expected_version', current };
  return { kind: 'ok', revision: last.revision, position: last.position };
};

interface Placing {
  readonly stream: string;
  readonly current: number;
  readonly events: readonly ProposedEvent[];
}

const place = (state: State, { stream, current, events }: Placing): readonly StoredEvent[] => {
  const before = state.all.at(-1);
  let position = before === undefined ? 0 : before.position + RECORD_BYTES + before.data.length;
  return events.map((event, index) => {
    const created = String(BigInt(Date.now()) * 10_000n);
    const stored = { ...event, stream, revision: current + 1 + index, position, created };
    position += RECORD_BYTES + event.data.length;
    return stored;
  });
};

const remember = (state: State, event: StoredEvent): void => {
  state.all.push(event);
  const stream = state.streams.get(event.stream);
  if (stream === undefined) state.streams.set(event.stream, [event]);
  else stream.push(event);
  state.recent.delete(event.id);
  state.recent.set(event.id, event);
  if (state.recent.size <= state.recentIdsMax) return;
  for (const oldest of state.recent.keys()) {
    state.recent.delete(oldest);
    return;
  }
};

/** One line per append, so that a torn write loses a whole append that nobody was told about. */
const openJournal = (file: string, state: State) => {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  for (const line of whole.split('\n'))
    if (line !== '') for (const event of parsed(line)) remember(state, event);
  // The recent IDs live in memory only: a restarted server has none.
  state.recent.clear();
  if (whole.length < text.length) truncateSync(file, Buffer.byteLength(whole));
  const handle = openSync(file, 'a');
  let waiting: (() => void)[] = [];
  let isClosed = false;
  const sync = (): void => {
    if (isClosed) return;
    fsyncSync(handle);
    const answers = waiting;
    waiting = [];
    for (const answer of answers) answer();
  };
  return {
    write: (events: readonly StoredEvent[]) => {
      writeSync(handle, `${JSON.stringify(events.map(asText))}\n`);
    },
    synced: (answer: () => void) => {
      if (waiting.push(answer) === 1) setImmediate(sync);
    },
    rewrite: (events: readonly StoredEvent[]) => {
      ftruncateSync(handle, 0);
      for (const event of events) writeSync(handle, `${JSON.stringify([asText(event)])}\n`);
      fsyncSync(handle);
    },
    close: () => {
      isClosed = true;
      closeSync(handle);
    },
  };
};

type TextEvent = Omit<StoredEvent, 'data' | 'metadata'> & {
  readonly data: string;
  readonly metadata: string;
};

const asText = (event: StoredEvent): TextEvent => ({
  ...event,
  data: Buffer.from(event.data).toString('base64'),
  metadata: Buffer.from(event.metadata).toString('base64'),
});

const parsed = (line: string): readonly StoredEvent[] =>
  (JSON.parse(line) as readonly TextEvent[]).map((event) => ({
    ...event,
    data: Buffer.from(event.data, 'base64'),
    metadata: Buffer.from(event.metadata, 'base64'),
  }));
