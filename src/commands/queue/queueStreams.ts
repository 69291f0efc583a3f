import type { QueuedKind, QueuedState, WorkCommand, WorkTypes } from '../../../domain/leased.ts';
import type { Outcome } from '../writer/outcome.ts';

/** The streams of one kind of queued work: its queue. */
export interface QueueStreams<W extends WorkTypes> {
  readonly handle: (name: W['identity'], command: WorkCommand<W>) => Promise<Outcome<QueuedKind<W>>>;
  /** From the log; `accepted` is null for work that never was in the queue. */
  readonly stateOf: (id: string) => Promise<QueuedState<W>>;
}
