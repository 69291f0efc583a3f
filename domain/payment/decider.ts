import type { CommandMeta } from '../kernel/command.ts';
import { accept, reject, type Decider } from '../kernel/decider.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { PaymentEvent } from './events.ts';
import { isSameSale } from './sameSale.ts';

/** Takes the identity for a tenant and payload. The same claim again does nothing. */
export interface ClaimPayment {
  readonly type: 'ClaimPayment';
  readonly data: {
    readonly provider: string;
    readonly provider_txn_id: string;
    readonly tenant_id: string;
    readonly kind: 'sale' | 'refund';
    readonly fingerprint: string;
    readonly intent: JsonObject;
  };
  readonly meta: CommandMeta;
}

/** Frees the identity: the command that it was claimed for was rejected. */
export interface ReleasePayment {
  readonly type: 'ReleasePayment';
  readonly data: { readonly fingerprint: string; readonly reason: string };
  readonly meta: CommandMeta;
}

export type PaymentCommand = ClaimPayment | ReleasePayment;

/** Taken by another tenant, kind or payload. */
export interface PaymentRejection {
  readonly code: 'idempotency_key_reused';
}

/** Who has the identity now, if anybody. */
export interface PaymentClaim {
  readonly provider: string;
  readonly provider_txn_id: string;
  readonly tenant_id: string;
  readonly kind: 'sale' | 'refund';
  readonly fingerprint: string;
  readonly intent: JsonObject;
  readonly claimed_at: string;
}

export interface PaymentState {
  readonly claim: PaymentClaim | null;
}

const figuresIn = ({ data }: JsonObject): JsonObject =>
  typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as JsonObject) : {};

const isSame = (claim: PaymentClaim, { data }: ClaimPayment): boolean => {
  if (claim.tenant_id !== data.tenant_id || claim.kind !== data.kind) return false;
  if (claim.fingerprint === data.fingerprint) return true;
  return data.kind === 'sale' && isSameSale(figuresIn(claim.intent), figuresIn(data.intent));
};

/** One payment, one claim; only a command that succeeded keeps it. */
export const payment: Decider<PaymentState, PaymentCommand, PaymentEvent, PaymentRejection> = {
  initialState: { claim: null },
  decide: ({ claim }, command) => {
    if (command.type === 'ReleasePayment') {
      if (claim?.fingerprint !== command.data.fingerprint) return accept();
      const { provider, provider_txn_id } = claim;
      const { reason } = command.data;
      return accept({
        type: 'PaymentReleased',
        data: { provider, provider_txn_id, reason, released_at: command.meta.now },
      });
    }
    if (claim !== null) return isSame(claim, command) ? accept() : reject({ code: 'idempotency_key_reused' });
    return accept({ type: 'PaymentClaimed', data: { ...command.data, claimed_at: command.meta.now } });
  },
  evolve: (_state, { type, data }) => ({ claim: type === 'PaymentClaimed' ? data : null }),
};
