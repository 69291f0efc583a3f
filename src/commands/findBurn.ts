import { accountEvent, type AccountEventOf } from '../../domain/account/events.ts';
import { accountStream } from '../../domain/account/stream.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { EventStore } from '../../domain/ports/eventStore.ts';

const codec = eventCodec(accountEvent);

/**
 * The burn that settled a hold, or undefined when the hold was released or never placed. The account
 * forgets finished holds, so this reads its stream backwards, to where the hold was placed; only a retry
 * after a crash needs it.
 */
export const findBurn = async (
  store: EventStore,
  tenantId: string,
  holdId: string,
): Promise<AccountEventOf<'CreditsBurned'>['data'] | undefined> => {
  for await (const recorded of store.read(accountStream(tenantId), { direction: 'backwards' })) {
    const { type, data } = codec.decode(recorded);
    if (type === 'CreditsBurned' && data.hold_id === holdId) return data;
    if ((type === 'CreditsHeld' || type === 'HoldReleased') && data.hold_id === holdId) return undefined;
  }
  return undefined;
};
