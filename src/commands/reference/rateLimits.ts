import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import {
  rateLimits,
  type OverrideRateLimits,
  type RateLimitsState,
  type ResetRateLimits,
  type RateLimitsKind,
} from '../../../domain/rateLimits/decider.ts';
import { rateLimitsEvent, rateLimitsStream } from '../../../domain/rateLimits/events.ts';
import { commandHandler, type HandlerOptions } from '../writer/commandHandler.ts';
import type { Outcome } from '../writer/outcome.ts';

export interface RateLimitCommands {
  execute(command: OverrideRateLimits | ResetRateLimits): Promise<Outcome<RateLimitsKind>>;
  /** From the log. */
  stateOf(tenantId: string): Promise<RateLimitsState>;
}

const codec = eventCodec(rateLimitsEvent);

export const rateLimitCommands = (store: EventStore, options: HandlerOptions = {}): RateLimitCommands => ({
  execute: (command) => {
    const { tenant_id } = command.data;
    const handle = commandHandler({ decider: rateLimits, codec, store, tenantOf: () => tenant_id, options });
    return handle(rateLimitsStream(tenant_id), command);
  },
  stateOf: async (tenantId) => {
    let state = rateLimits.initialState;
    for await (const recorded of store.read(rateLimitsStream(tenantId)))
      state = rateLimits.evolve(state, codec.decode(recorded));
    return state;
  },
});
