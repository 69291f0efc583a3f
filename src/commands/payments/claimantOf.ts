import { payment, type PaymentClaim, paymentCodec } from '../../../domain/payment.ts';
import { paymentStream, type PaymentIdentity } from '../../../domain/account/messages.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import { stateIn } from '../writer/streamFold.ts';

/** Who holds the identity that a payment stream is of; undefined while nobody does. */
export const claimAt = async (store: EventStore, stream: string): Promise<PaymentClaim | undefined> =>
  (await stateIn(store, stream, { ...payment, codec: paymentCodec })).claim ?? undefined;

/** Which tenant holds a payment identity, and for what; undefined while nobody does. */
export const claimantOf =
  (store: EventStore) =>
  (identity: PaymentIdentity): Promise<PaymentClaim | undefined> =>
    claimAt(store, paymentStream(identity));
