import type { AppliedBatch, Delivered } from '../../projections/engine/arrivals.ts';
import { NO_TRACER, type Tracer } from '../../domain/ports/log.ts';

/** Data of a committed batch for counters and traces: plain, because it may come from another thread. */
export interface AppliedFacts {
  readonly events: number;
  readonly durationMs: number;
  /** Types of the events that counters look for, one entry an event. */
  readonly types: readonly string[];
  /** How many events each append brought, by its trace context; none where nobody traces. */
  readonly appends: ReadonlyMap<string, number>;
}

interface Wanted {
  /** Types of events that counters look for. */
  readonly types: ReadonlySet<string>;
  readonly isTraced: boolean;
  readonly nowMs: number;
}

/** Older events are history that is read again: their traces ended long ago. */
const FRESH_MS = 15 * 60_000;
/** Appends of one batch that are told, at most. */
const APPENDS_MAX = 100;

const traceOf = ({ metadata }: Delivered, oldest: number): string | undefined => {
  const { traceparent, recorded_at } = metadata;
  if (typeof traceparent !== 'string' || typeof recorded_at !== 'string') return undefined;
  return Date.parse(recorded_at) < oldest ? undefined : traceparent;
};

const eventsByAppend = ({ arrivals }: AppliedBatch, oldest: number): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { recorded } of arrivals) {
    const parent = recorded === undefined ? undefined : traceOf(recorded, oldest);
    if (parent === undefined || (counts.size >= APPENDS_MAX && !counts.has(parent))) continue;
    counts.set(parent, (counts.get(parent) ?? 0) + 1);
  }
  return counts;
};

/** The report of a batch. */
export const appliedFacts = (
  batch: AppliedBatch,
  { types: wanted, isTraced, nowMs }: Wanted,
): AppliedFacts => {
  const types: string[] = [];
  for (const { recorded } of batch.arrivals)
    if (recorded !== undefined && wanted.has(recorded.type)) types.push(recorded.type);
  const appends = isTraced ? eventsByAppend(batch, nowMs - FRESH_MS) : new Map<string, number>();
  return { events: batch.arrivals.length, durationMs: batch.durationMs, types, appends };
};

/** Ends the traces of the appends whose events a batch brought into the read models. */
export const projectSpans =
  (tracer: Tracer, nowMs: () => number): ((batch: AppliedFacts) => void) =>
  ({ appends, events: ofBatch, durationMs }) => {
    const now = nowMs();
    for (const [parent, events] of appends)
      tracer
        .begin('project', {
          parent,
          kind: 'consumer',
          beganAtMs: now - durationMs,
          facts: { 'quire.events': events, 'quire.batch.events': ofBatch },
        })
        .end();
  };

/** Counts what a batch brought, and ends the traces of its appends. */
export const tracedBatches = (
  onApplied: (batch: AppliedFacts) => void,
  tracer: Tracer,
): ((batch: AppliedFacts) => void) => {
  if (tracer === NO_TRACER) return onApplied;
  const project = projectSpans(tracer, () => Date.now());
  return (batch) => {
    onApplied(batch);
    project(batch);
  };
};
