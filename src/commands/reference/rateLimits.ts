import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import {
  rateLimits,
  rateLimitsEvent,
  type RateLimitsKind,
  rateLimitsStream,
} from '../../../domain/rateLimits.ts';
import type { HandlerOptions } from '../writer/commandHandler.ts';
import { streamsOf } from '../writer/streams.ts';

export type RateLimitCommands = ReturnType<typeof rateLimitCommands>;

const limitRules = { decider: rateLimits, codec: eventCodec(rateLimitsEvent), streamOf: rateLimitsStream };

/** Tenants' own rate limits. */
export const rateLimitCommands = (store: EventStore, options?: HandlerOptions) => {
  const { handle, stateOf } = streamsOf<RateLimitsKind>(limitRules, store, options);
  return {
    execute: (command: RateLimitsKind['command']) => {
      const { tenant_id } = command.data;
      return handle(tenant_id, command, tenant_id);
    },
    /** From the log. */
    stateOf,
  };
};
