import { accountEvent, type AccountEventOf } from '../../../domain/account/events.ts';
import { accountStream } from '../../../domain/account/stream.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';

const codec = eventCodec(accountEvent);

/**
 * The burn of an operation, or undefined when it was not settled. The account forgets finished holds, so
 * this reads its stream backwards, to where the operation's first hold was placed; only a retry after a
 * crash needs it.
 */
export const findBurn = async (
  store: EventStore,
  tenantId: string,
  of: { readonly operation_id: string; readonly hold_id: string },
): Promise<AccountEventOf<'CreditsBurned'>['data'] | undefined> => {
  for await (const recorded of store.read(accountStream(tenantId), { direction: 'backwards' })) {
    const { type, data } = codec.decode(recorded);
    if (type === 'CreditsBurned' && data.operation_id === of.operation_id) return data;
    if (type === 'CreditsHeld' && data.hold_id === of.hold_id) return undefined;
  }
  return undefined;
};
