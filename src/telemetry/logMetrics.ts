import type { Registry } from 'prom-client';
import { markOf, type SeenEvents, type Witness } from '../../domain/eventLog/witness.ts';
import { categoryOf } from '../../domain/kernel/chain.ts';
import type { AppendResult, EventFeed, EventStore, NewEvent, Tracer } from '../../domain/ports/log.ts';
import { metersOn } from './meters.ts';

/** `repeat`: a batch whose outcome was unknown was sent again, and is in the log. */
type AppendOutcome = 'ok' | 'repeat' | 'conflict' | 'moved' | 'unknown' | 'rejected';
const OUTCOMES: readonly AppendOutcome[] = ['ok', 'repeat', 'conflict', 'moved', 'unknown', 'rejected'];

const outcomeOf = ({ kind }: AppendResult, wasSent: boolean): AppendOutcome => {
  if (kind !== 'appended') return kind;
  return wasSent ? 'repeat' : 'ok';
};

interface Observing {
  readonly register: Registry;
  readonly tracer: Tracer;
  readonly seen: SeenEvents;
}

/** The last event of an append, as it stands in the log. */
const writtenBy = (
  stream: string,
  events: readonly NewEvent[],
  { revision, position }: Extract<AppendResult, { kind: 'appended' }>,
): Witness | undefined => {
  const last = events.at(-1);
  return last && { stream, revision, position, hash: markOf(last) };
};

/**
 * Counts appends by what became of them, and notes what was written. Answers are the log's own, no later than
 * without.
 */
export const observedLog = (
  log: EventStore & EventFeed,
  { register, tracer, seen }: Observing,
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
    epoch: seen.epoch,
    seen,
    append: (...[stream, expected, events, epoch]) => {
      const wasSent = sent.has(events);
      sent.add(events);
      const answer = log.append(stream, expected, events, epoch);
      const count = (outcome: AppendOutcome) => appends.inc({ category: categoryOf(stream), outcome });
      answer.then(
        (result) => {
          const written = result.kind === 'appended' ? writtenBy(stream, events, result) : undefined;
          if (written !== undefined) seen.note(written, epoch ?? seen.epoch());
          count(outcomeOf(result, wasSent));
        },
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
