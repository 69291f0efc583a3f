import { sha256 } from '../kernel/chain.ts';

export interface PaymentIdentity {
  readonly provider: string;
  readonly provider_txn_id: string;
}

/** One text for one payment: the provider without case, and its transaction, apart by a control character. */
export const paymentKey = ({ provider, provider_txn_id }: PaymentIdentity): string =>
  `${provider.toLowerCase()}\u001f${provider_txn_id}`;

/** The stream whose first event claims the payment, for all tenants. */
export const paymentStream = (identity: PaymentIdentity): string => `payment-${sha256(paymentKey(identity))}`;
