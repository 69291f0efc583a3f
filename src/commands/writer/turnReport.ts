import type { AnyKind } from '../../../domain/kernel/decider.ts';
import type { AppendResult, Span, Tracer } from '../../../domain/ports/log.ts';
import type { DecidedBatch } from './decideBatch.ts';
import type { Entry } from './mailbox.ts';
import { beginAppend, beginCommand, stamped } from './traceCommand.ts';
import type { WriterHooks } from './writerRules.ts';

/** What one turn of a mailbox tells: its batches to metrics, its appends to traces. */
export interface TurnReport<Kind extends AnyKind> {
  /** The command of an entry as it is to be decided: its events will name the append. */
  readonly commandOf: (entry: Entry<Kind>, command: Kind['command']) => Kind['command'];
  /** What became of a batch that `entries` were decided for, in order. */
  readonly tell: (
    entries: readonly Entry<Kind>[],
    batch: DecidedBatch<Kind>,
    outcome: AppendResult['kind'] | 'nothing',
  ) => void;
}

/** `stream`, and who is told. */
export interface Told {
  readonly stream: string;
  readonly hooks: WriterHooks;
  readonly tracer: Tracer;
}

/** The turn begins now. */
export const turnReport = <Kind extends AnyKind>({ stream, hooks, tracer }: Told): TurnReport<Kind> => {
  const startedAt = performance.now();
  const appends = new Map<Entry<Kind>, Span>();
  return {
    commandOf: (entry, command) => {
      const append = beginAppend(tracer, stream, entry.span);
      if (append !== undefined) appends.set(entry, append);
      return stamped(command, append);
    },
    tell: (entries, { verdicts, events }, outcome) => {
      const commands = entries.length;
      hooks.onBatch?.({ commands, events: events.length, outcome, ms: performance.now() - startedAt });
      if (appends.size === 0) return;
      for (const [index, entry] of entries.entries()) {
        const verdict = verdicts[index];
        const isWritten = verdict?.kind === 'done' && verdict.events.length > 0;
        if (!isWritten || outcome === 'nothing') continue;
        const facts = { 'quire.outcome': outcome, 'quire.batch.commands': commands };
        appends.get(entry)?.end({
          ...facts,
          'quire.events': verdict.events.length,
          'quire.batch.events': events.length,
        });
      }
      appends.clear();
    },
  };
};

/** An entry whose command is a span until it is answered; itself where nobody records. */
export const tracedEntry = <Kind extends AnyKind>(
  tracer: Tracer,
  stream: string,
  entry: Entry<Kind>,
): Entry<Kind> => {
  if (entry.command === undefined) return entry;
  const span = beginCommand(tracer, stream, entry.command);
  if (span.traceparent === undefined) return entry;
  return {
    ...entry,
    span,
    answer: (outcome) => {
      span.end({ 'quire.outcome': outcome.kind });
      entry.answer(outcome);
    },
    fail: (error) => {
      span.end({ 'quire.outcome': 'failed' }, 'failed');
      entry.fail(error);
    },
  };
};
