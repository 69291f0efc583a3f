import { sha256Hex } from '../kernel/digest.ts';

/** Cannot occur in a provider's name or a transaction ID that came over HTTP as visible text. */
const SEPARATOR = '\u001f';

/** Who took or gave the money, and under which ID. */
export interface PaymentIdentity {
  readonly provider: string;
  readonly provider_txn_id: string;
}

/** The identity of a payment as map key: a provider's name is one whatever its case, an ID is exact. */
export const paymentKey = (provider: string, providerTxnId: string): string =>
  `${provider.toLowerCase()}${SEPARATOR}${providerTxnId}`;

export const paymentKeyOf = ({ provider, provider_txn_id }: PaymentIdentity): string =>
  paymentKey(provider, provider_txn_id);

/** The stream whose existence makes a payment identity unique across all tenants. */
export const paymentStream = (provider: string, providerTxnId: string): string =>
  `payment-${sha256Hex(paymentKey(provider, providerTxnId))}`;
