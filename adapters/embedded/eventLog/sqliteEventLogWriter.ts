import { Worker } from 'node:worker_threads';
import { messageOf } from '../../../domain/kernel/failure.ts';
import { encodeBatch } from '../../../domain/kernel/batch.ts';
import type { Batch } from '../../../domain/kernel/batch.ts';
import type { AppendResult } from '../../../domain/ports/eventStore.ts';
import type { EncodedAppend } from './sqliteEventLogCommit.ts';
import type { ThreadAnswer, ThreadMessage } from './sqliteEventLogThread.ts';
import type { SnapshotRow } from './sqliteSnapshots.ts';

const GROUP_APPENDS_MAX = 2000;
const GROUP_BYTES_MAX = 8 * 1024 * 1024;

interface Waiting extends EncodedAppend {
  readonly bytes: number;
  readonly answer: (result: AppendResult) => void;
}

const CLOSED: AppendResult = { kind: 'unknown', reason: 'the log is closed' };
const UNANSWERED: AppendResult = { kind: 'unknown', reason: 'no result' };

/** How many of those that wait fit into one transaction. */
const groupSize = (waiting: readonly Waiting[]): number => {
  let bytes = 0;
  let size = 0;
  while (size < waiting.length && size < GROUP_APPENDS_MAX && bytes < GROUP_BYTES_MAX) {
    bytes += waiting[size]?.bytes ?? 0;
    size += 1;
  }
  return size;
};

/** The thread that commits, and the group that it has in hand. */
interface Committing {
  readonly thread: Worker;
  /** Resolves when the thread has ended, however it ended. */
  readonly ended: Promise<unknown>;
  waiting: Waiting[];
  inFlight: readonly Waiting[];
  /** Snapshots that the thread has, first come first; told why one was not written. */
  readonly saving: ((unsaved: string | null) => void)[];
  scheduled: boolean;
  closed: boolean;
  onDrained: (() => void) | undefined;
}

const TOLD_EVERY_MS = 10_000;

/** Passes on why groups cannot be committed, at once and then now and then while it stays so; null: they can again. */
const toldNowAndThen = (tell: (reason: string | null) => void) => {
  let last: { readonly reason: string; readonly at: number } | undefined;
  return (results: readonly AppendResult[]): void => {
    const reason = results.find((result) => result.kind === 'unknown')?.reason;
    if (reason === undefined) {
      if (last !== undefined) tell(null);
      last = undefined;
      return;
    }
    const at = performance.now();
    if (last?.reason === reason && at - last.at < TOLD_EVERY_MS) return;
    last = { reason, at };
    tell(reason);
  };
};

/** Hands over what fits; more that comes meanwhile waits for the next group. */
const send = (state: Committing): void => {
  state.scheduled = false;
  if (state.inFlight.length > 0 || state.waiting.length === 0) return;
  const size = groupSize(state.waiting);
  state.inFlight = state.waiting.slice(0, size);
  state.waiting = state.waiting.slice(size);
  const message: ThreadMessage = state.inFlight.map(({ stream, expected, events }) => ({
    stream,
    expected,
    events,
  }));
  state.thread.ref();
  state.thread.postMessage(message);
};

/** Sends at the end of this turn, so that all appends of the turn go together. */
const schedule = (state: Committing): void => {
  if (state.scheduled || state.inFlight.length > 0) return;
  state.scheduled = true;
  setImmediate(send, state);
};

/** A thread without work keeps no process alive. */
const rest = ({ thread, inFlight, saving }: Committing): void => {
  if (inFlight.length === 0 && saving.length === 0) thread.unref();
};

const finishSave = (state: Committing, unsaved: string | null): void => {
  const told = state.saving.shift();
  rest(state);
  told?.(unsaved);
};

const save = (state: Committing, row: SnapshotRow): Promise<void> =>
  new Promise((resolve, reject) => {
    if (state.closed) {
      reject(new Error('the log is closed'));
      return;
    }
    state.saving.push((unsaved) => {
      if (unsaved === null) resolve();
      else reject(new Error(unsaved));
    });
    const message: ThreadMessage = row;
    state.thread.ref();
    state.thread.postMessage(message);
  });

const finish = (state: Committing, results: readonly AppendResult[]): void => {
  const group = state.inFlight;
  state.inFlight = [];
  rest(state);
  // The thread gets its next group first: it commits while the callers are answered.
  send(state);
  group.forEach(({ answer }, index) => answer(results[index] ?? UNANSWERED));
  if (state.inFlight.length === 0) state.onDrained?.();
};

/** What a thread that died had in hand may or may not be committed. */
const lose = (state: Committing, reason: string): void => {
  state.closed = true;
  for (const { answer } of [...state.inFlight, ...state.waiting]) answer({ kind: 'unknown', reason });
  [state.inFlight, state.waiting] = [[], []];
  for (const told of state.saving.splice(0)) told(reason);
  state.onDrained?.();
};

const drainAndEnd = async (state: Committing): Promise<void> => {
  state.closed = true;
  if (state.waiting.length + state.inFlight.length > 0)
    await new Promise<void>((resolve) => {
      state.onDrained = resolve;
    });
  const goodbye: ThreadMessage = null;
  state.thread.ref();
  state.thread.postMessage(goodbye);
  await state.ended;
};

/**
 * Writes in a thread of its own, so that a sync of the disk stops no request. One group is in flight at
 * a time, and it is the thread alone that writes: the order of the log is the order of its commits. Appends
 * that wait meanwhile share the next transaction, and its sync.
 */
export const groupWriter = (
  path: string,
  onCommit: () => void,
  onTrouble: (reason: string | null) => void = () => undefined,
): {
  readonly append: (batch: Batch) => Promise<AppendResult>;
  /** Writes a snapshot between two groups. Rejects where it cannot be written. */
  readonly save: (row: SnapshotRow) => Promise<void>;
  /** Commits what waits; later appends are answered `unknown`. */
  readonly close: () => Promise<void>;
} => {
  const tellTrouble = toldNowAndThen(onTrouble);
  const thread = new Worker(new URL('./sqliteEventLogThread.js', import.meta.url), { workerData: { path } });
  const ended = new Promise((resolve) => thread.once('exit', resolve));
  const state: Committing = {
    ...{ thread, ended, waiting: [], inFlight: [], saving: [] },
    ...{ scheduled: false, closed: false, onDrained: undefined },
  };
  thread.unref();
  thread.on('message', (answer: ThreadAnswer) => {
    if ('unsaved' in answer) {
      finishSave(state, answer.unsaved);
      return;
    }
    onCommit();
    tellTrouble(answer);
    finish(state, answer);
  });
  thread.on('error', (error) => lose(state, messageOf(error)));

  return {
    append: (batch) => {
      if (state.closed) return Promise.resolve(CLOSED);
      const encoded = encodeBatch(batch);
      if (encoded.kind === 'rejected') return Promise.resolve(encoded);
      const { stream, expected } = batch;
      const { events, bytes } = encoded;
      return new Promise((answer) => {
        state.waiting.push({ stream, expected, events, bytes, answer });
        schedule(state);
      });
    },
    save: (row) => save(state, row),
    close: () => drainAndEnd(state),
  };
};
