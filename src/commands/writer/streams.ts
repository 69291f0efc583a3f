import type { Codec } from '../../../domain/kernel/codec.ts';
import type { AnyKind, Decider } from '../../../domain/kernel/decider.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import { commandHandler, type HandlerOptions } from './commandHandler.ts';
import type { Outcome } from './outcome.ts';
import { stateIn } from './streamFold.ts';

/** What all streams of one kind share. `Id` names one of them. */
interface StreamsRules<Kind extends AnyKind, Id> {
  readonly decider: Decider<Kind>;
  readonly codec: Codec<Kind['event']>;
  readonly streamOf: (id: Id) => string;
}

/** The streams of one kind: their commands, and their states as the log has them. */
export interface Streams<Kind extends AnyKind, Id> {
  /** `tenantId`: whose its events are; null: nobody's. */
  readonly handle: (id: Id, command: Kind['command'], tenantId: string | null) => Promise<Outcome<Kind>>;
  readonly stateOf: (id: Id) => Promise<Kind['state']>;
}

export const streamsOf = <Kind extends AnyKind, Id = string>(
  { decider, codec, streamOf }: StreamsRules<Kind, Id>,
  store: EventStore,
  options: HandlerOptions = {},
): Streams<Kind, Id> => ({
  handle: (id, command, tenantId) =>
    commandHandler<Kind>({ store, codec, decider, tenantOf: () => tenantId, options })(streamOf(id), command),
  stateOf: (id) => stateIn(store, streamOf(id), { ...decider, codec }),
});
