import { accept, reject, type Decider, type Decision } from '../kernel/decider.ts';
import type { CommandMeta } from '../kernel/command.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { PaymentEvent } from './events.ts';

type Claim = Extract<PaymentEvent, { type: 'PaymentClaimed' }>['data'];

/** Who holds a payment identity; null while nobody does, or after its claim was released. */
export interface PaymentState {
  readonly claim: Claim | null;
}

/** Takes the identity for one tenant and payload. `intent` is the account command's data. */
export interface ClaimPayment {
  readonly type: 'ClaimPayment';
  readonly data: Omit<Claim, 'claimed_at' | 'intent'> & { readonly intent: JsonObject };
  readonly meta: CommandMeta;
}

/** Frees the identity of this tenant's claim, since its command was rejected after all. */
export interface ReleasePayment {
  readonly type: 'ReleasePayment';
  readonly data: {
    readonly provider: string;
    readonly provider_txn_id: string;
    readonly tenant_id: string;
    readonly kind: Claim['kind'];
    readonly fingerprint: string;
    readonly reason: string;
  };
  readonly meta: CommandMeta;
}

export type PaymentCommand = ClaimPayment | ReleasePayment;

/** `claimed_by`: who has it, for the refund check "other tenant" and for the log; never for the caller. */
export interface PaymentRejection {
  readonly code: 'idempotency_key_reused';
  readonly claimed_by: string;
}

type PaymentDecision = Decision<PaymentEvent, PaymentRejection>;
type Claimant = Pick<Claim, 'tenant_id' | 'kind' | 'fingerprint'>;

const isMine = (claim: Claim, { tenant_id, kind, fingerprint }: Claimant): boolean =>
  claim.tenant_id === tenant_id && claim.kind === kind && claim.fingerprint === fingerprint;

/** Already claimed by the same tenant, kind and payload: a repeat. By anyone else: refused. */
const claimPayment = ({ claim }: PaymentState, { data, meta }: ClaimPayment): PaymentDecision => {
  if (claim === null)
    return accept<PaymentEvent>({
      type: 'PaymentClaimed',
      data: { ...data, intent: data.intent as Claim['intent'], claimed_at: meta.now },
    });
  if (isMine(claim, data)) return accept<PaymentEvent>();
  return reject({ code: 'idempotency_key_reused', claimed_by: claim.tenant_id });
};

/** Only the claim that is meant is released: one that another took meanwhile stays. */
const releasePayment = ({ claim }: PaymentState, { data, meta }: ReleasePayment): PaymentDecision => {
  if (claim === null || !isMine(claim, data)) return accept<PaymentEvent>();
  const { provider, provider_txn_id, reason } = data;
  return accept<PaymentEvent>({
    type: 'PaymentReleased',
    data: { provider, provider_txn_id, reason, released_at: meta.now },
  });
};

/** The claim that makes a payment identity unique across tenants. */
export const payment: Decider<PaymentState, PaymentCommand, PaymentEvent, PaymentRejection> = {
  initialState: { claim: null },
  decide: (state, command) => {
    switch (command.type) {
      case 'ClaimPayment':
        return claimPayment(state, command);
      case 'ReleasePayment':
        return releasePayment(state, command);
    }
  },
  evolve: (_, event) => {
    switch (event.type) {
      case 'PaymentClaimed':
        return { claim: event.data };
      case 'PaymentReleased':
        return { claim: null };
    }
  },
};
