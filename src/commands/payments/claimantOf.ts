import { payment, type PaymentClaim } from '../../../domain/payment/decider.ts';
import { paymentCodec } from '../../../domain/payment/events.ts';
import { paymentStream, type PaymentIdentity } from '../../../domain/payment/identity.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import { stateIn } from '../writer/streamFold.ts';

/** Who holds the identity that a payment stream is of; undefined while nobody does. */
export const claimAt = async (store: EventStore, stream: string): Promise<PaymentClaim | undefined> =>
  (await stateIn(store, stream, { ...payment, codec: paymentCodec })).claim ?? undefined;

/** Which tenant holds a payment identity, and for what; undefined while nobody does. */
export const claimantOf =
  (store: EventStore) =>
  (identity: PaymentIdentity): Promise<PaymentClaim | undefined> =>
    claimAt(store, paymentStream(identity));
