import type { Registry } from 'prom-client';
import { categoryOf } from '../../domain/kernel/batch.ts';
import type { EventFeed } from '../../domain/ports/eventFeed.ts';
import type { AppendResult, EventStore, NewEvent } from '../../domain/ports/eventStore.ts';
import type { Tracer } from '../../domain/ports/tracer.ts';
import { metersOn } from './meters.ts';

/** `repeat`: a batch whose outcome was unknown was sent again, and is in the log. */
type AppendOutcome = 'ok' | 'repeat' | 'conflict' | 'unknown' | 'rejected';
const OUTCOMES: readonly AppendOutcome[] = ['ok', 'repeat', 'conflict', 'unknown', 'rejected'];

const outcomeOf = ({ kind }: AppendResult, wasSent: boolean): AppendOutcome => {
  if (kind !== 'appended') return kind;
  return wasSent ? 'repeat' : 'ok';
};

/** Counts appends by what became of them. Answers are the log's own, no later than without. */
export const observedLog = (
  log: EventStore & EventFeed,
  { register, tracer }: { readonly register: Registry; readonly tracer: Tracer },
): EventStore & EventFeed => {
  const appends = metersOn(register).counter(
    'quire_appends_total',
    'Appends to the event log, by the category of their stream and their outcome.',
    'category',
    'outcome',
  );
  for (const outcome of OUTCOMES) appends.inc({ category: 'account', outcome }, 0);
  const sent = new WeakSet<readonly NewEvent[]>();
  return {
    tracer,
    append: (stream, expected, events) => {
      const wasSent = sent.has(events);
      sent.add(events);
      const answer = log.append(stream, expected, events);
      const count = (outcome: AppendOutcome) => appends.inc({ category: categoryOf(stream), outcome });
      answer.then(
        (result) => count(outcomeOf(result, wasSent)),
        () => count('unknown'),
      );
      return answer;
    },
    read: (stream, options) => log.read(stream, options),
    subscribe: (options) => log.subscribe(options),
    backwards: (options) => log.backwards(options),
    head: () => log.head(),
    end: () => log.end(),
    close: () => log.close(),
  };
};
