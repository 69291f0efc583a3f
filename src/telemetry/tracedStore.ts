import type { EventStore } from '../../domain/ports/eventStore.ts';
import type { Tracer } from '../../domain/ports/tracer.ts';
import { NO_TRACER } from './noTracer.ts';

/** A log that carries its tracer: who writes to it need not be handed one as well. */
export interface TracedStore extends EventStore {
  readonly tracer: Tracer;
}

/** The tracer of a log; one that records nothing where the log has none. */
export const tracerOf = (store: EventStore): Tracer =>
  'tracer' in store ? (store as TracedStore).tracer : NO_TRACER;
