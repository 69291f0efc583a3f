import type { CommandMeta } from '../kernel/command.ts';
import { accept, reject, type Decider, type StreamKind } from '../kernel/decider.ts';
import type { PaymentEvent } from './events.ts';
import type { PaymentIntent } from './intent.ts';
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
    readonly intent: PaymentIntent;
    /** The command took effect before. */
    readonly again?: true;
  };
  readonly meta: CommandMeta;
}

/** Frees the identity: the command that it was claimed for was rejected, or an operator gave it up. */
export interface ReleasePayment {
  readonly type: 'ReleasePayment';
  readonly data: {
    readonly fingerprint: string;
    readonly reason: string;
    readonly released_by?: 'operator';
  };
  readonly meta: CommandMeta;
}

export type PaymentCommand = ClaimPayment | ReleasePayment;

/** Taken by another tenant, kind or payload. */
interface PaymentRejection {
  readonly code: 'idempotency_key_reused';
}

/** Who has the identity now, if anybody. */
export interface PaymentClaim {
  readonly provider: string;
  readonly provider_txn_id: string;
  readonly tenant_id: string;
  readonly kind: 'sale' | 'refund';
  readonly fingerprint: string;
  readonly intent: PaymentIntent;
  readonly claimed_at: string;
  /** Made by a release that told callers no and left the claim. */
  readonly lifted_from?: 1 | undefined;
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
