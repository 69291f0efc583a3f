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
import { stateIn } from '../writer/streamFold.ts';
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
  stateOf: (tenantId) => stateIn(store, rateLimitsStream(tenantId), { ...rateLimits, codec }),
});
