import type { Tracer } from '../../domain/ports/log.ts';
import type { AppliedFacts } from './appliedFacts.ts';

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
