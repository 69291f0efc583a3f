import { eventCodec } from '../../domain/kernel/codec.ts';
import { payment, type PaymentClaim } from '../../domain/payment/decider.ts';
import { paymentEvent } from '../../domain/payment/events.ts';
import { paymentStream, type PaymentIdentity } from '../../domain/payment/identity.ts';
import type { EventStore } from '../../domain/ports/eventStore.ts';

const codec = eventCodec(paymentEvent);

/** Which tenant holds a payment identity, and for what; undefined while nobody does. */
export const claimantOf =
  (store: EventStore) =>
  async (identity: PaymentIdentity): Promise<PaymentClaim | undefined> => {
    let state = payment.initialState;
    for await (const recorded of store.read(paymentStream(identity)))
      state = payment.evolve(state, codec.decode(recorded));
    return state.claim ?? undefined;
  };
