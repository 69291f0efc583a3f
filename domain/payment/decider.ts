import type { Command } from '../kernel/command.ts';
import { accept, reject, type Decider, type StreamKind } from '../kernel/decider.ts';
import type { PaymentEvent } from './events.ts';
import type { PaymentIntent } from './intent.ts';
import { isSameSale } from './sameSale.ts';

/** Who has the identity now, if anybody. `lifted_from`: made by a release that told callers no and left the claim. */
export type PaymentClaim = Extract<PaymentEvent, { readonly type: 'PaymentClaimed' }>['data'];

/** Takes the identity for a tenant and payload; `again`: the command took effect before. A repeat does nothing. */
export type ClaimPayment = Command<'ClaimPayment', Omit<PaymentClaim, 'claimed_at' | 'lifted_from'>>;

/** Frees the identity: the command that it was claimed for was rejected, or an operator gave it up. */
export type ReleasePayment = Command<
  'ReleasePayment',
  {
    readonly fingerprint: string;
    readonly reason: string;
    readonly released_by?: 'operator';
  }
>;

export type PaymentCommand = ClaimPayment | ReleasePayment;

/** Taken by another tenant, kind or payload. */
interface PaymentRejection {
  readonly code: 'idempotency_key_reused';
}

interface PaymentState {
  readonly claim: PaymentClaim | null;
}

const figuresIn = (intent: PaymentIntent) => (intent.type === 'GrantCredits' ? intent.data : {});

const isSame = (claim: PaymentClaim, { data }: ClaimPayment): boolean => {
  if (claim.tenant_id !== data.tenant_id || claim.kind !== data.kind) return false;
  if (claim.fingerprint === data.fingerprint) return true;
  return data.kind === 'sale' && isSameSale(figuresIn(claim.intent), figuresIn(data.intent));
};

export type PaymentKind = StreamKind<PaymentState, PaymentCommand, PaymentEvent, PaymentRejection>;

/** One payment, one claim; only a command that succeeded keeps it. */
export const payment: Decider<PaymentKind> = {
  initialState: { claim: null },
  decide: ({ claim }, command) => {
    if (command.type === 'ReleasePayment') {
      if (claim?.fingerprint !== command.data.fingerprint) return accept();
      const { provider, provider_txn_id } = claim;
      const { fingerprint: _, ...why } = command.data;
      return accept({
        type: 'PaymentReleased',
        data: { provider, provider_txn_id, ...why, released_at: command.meta.now },
      });
    }
    if (claim !== null) return isSame(claim, command) ? accept() : reject({ code: 'idempotency_key_reused' });
    return accept({ type: 'PaymentClaimed', data: { ...command.data, claimed_at: command.meta.now } });
  },
  evolve: (_state, { type, data }) => ({ claim: type === 'PaymentClaimed' ? data : null }),
};
