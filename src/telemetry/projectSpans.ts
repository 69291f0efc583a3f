import type { RecordedEvent } from '../../domain/ports/eventStore.ts';
import type { Tracer } from '../../domain/ports/tracer.ts';
import type { AppliedBatch } from '../../projections/engine/feed/notices.ts';

/** Older events are history that is read again: their traces ended long ago. */
const FRESH_MS = 15 * 60_000;
/** Spans of one batch, at most. */
const SPANS_MAX = 100;

const traceOf = ({ metadata }: RecordedEvent, oldest: number): string | undefined => {
  const { traceparent, recorded_at } = metadata;
  if (typeof traceparent !== 'string' || typeof recorded_at !== 'string') return undefined;
  return Date.parse(recorded_at) < oldest ? undefined : traceparent;
};

/** How many events of a batch each append brought, by its trace context. */
const eventsByAppend = ({ arrivals }: AppliedBatch, oldest: number): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { recorded } of arrivals) {
    const parent = recorded === undefined ? undefined : traceOf(recorded, oldest);
    if (parent === undefined || (counts.size >= SPANS_MAX && !counts.has(parent))) continue;
    counts.set(parent, (counts.get(parent) ?? 0) + 1);
  }
  return counts;
};

/** Ends the traces of the appends whose events a batch brought into the read models. */
export const projectSpans =
  (tracer: Tracer, nowMs: () => number): ((batch: AppliedBatch) => void) =>
  (batch) => {
    const now = nowMs();
    for (const [parent, events] of eventsByAppend(batch, now - FRESH_MS))
      tracer
        .begin('project', {
          parent,
          kind: 'consumer',
          beganAtMs: now - batch.durationMs,
          facts: { 'quire.events': events, 'quire.batch.events': batch.arrivals.length },
        })
        .end();
  };
