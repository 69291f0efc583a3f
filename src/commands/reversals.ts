import {
  type AccountEventOf,
  type AccountRejection,
  type PaymentIdentity,
  paymentKey,
  type ReverseRefund,
} from '../../domain/account/messages.ts';
import { remainingOf } from '../../domain/account/payments.ts';
import { reversibleOf } from '../../domain/account/reversals.ts';
import { type AccountState, paymentAt, refundAt } from '../../domain/account/state.ts';
import { asCredits } from '../../domain/kernel/amounts.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { Clock } from '../../domain/ports/log.ts';
import type { NotNow } from '../writer/decideBatch.ts';
import type { Payments } from './payments.ts';
import { digestOf } from './sales.ts';

/** A reversal as a caller tells of it; without amounts it is all that is left of the refund. */
interface ReversalRequest {
  readonly refund_id: string;
  readonly provider_txn_id: string;
  readonly credits?: number | null | undefined;
  readonly gross_amount_minor?: number | null | undefined;
  readonly reason?: string | null | undefined;
}

interface RefundFound extends PaymentIdentity {
  readonly tenant_id: string;
  readonly kind: string;
}

interface ReversalsDeps {
  readonly clock: Pick<Clock, 'newId'>;
  readonly payments: Pick<Payments, 'reverseRefund'>;
  /** A sale, refund or reversal of any tenant, by its ID. */
  readonly grantById: (grantId: string) => Promise<RefundFound | undefined>;
}

const reversalCommand = (
  { clock }: Pick<ReversalsDeps, 'clock'>,
  body: ReversalRequest,
  { refund, meta }: { readonly refund: RefundFound; readonly meta: CommandMeta },
): ReverseRefund => ({
  type: 'ReverseRefund',
  meta,
  data: {
    tenant_id: refund.tenant_id,
    reversal_id: clock.newId('rev'),
    refund_id: body.refund_id,
    refund_provider_txn_id: refund.provider_txn_id,
    provider: refund.provider,
    provider_txn_id: body.provider_txn_id,
    credits: typeof body.credits === 'number' ? asCredits(body.credits) : null,
    gross_amount_minor: body.gross_amount_minor ?? null,
    fingerprint: digestOf('reversal', body),
    reason: body.reason ?? null,
    occurred_at: meta.now,
  },
});

/** The reversal under this identity, what is left of its refund, and what can still be refunded of the sale. */
const reversalIn = (state: AccountState, { data }: ReverseRefund) => {
  const reversal = paymentAt(state, paymentKey(data))?.reversal;
  const refunded = { provider: data.provider, provider_txn_id: data.refund_provider_txn_id };
  const found = refundAt(state, paymentKey(refunded));
  if (reversal === undefined || found === undefined)
    throw new Error('a reversal that was done is not in its account');
  const [left, sold] = [reversibleOf(found.refund, found.of), remainingOf(found.of)];
  return {
    reversal,
    reversible_credits: left.credits,
    reversible_amount_minor: left.gross,
    refundable_credits: sold.credits,
    refundable_amount_minor: found.of.sale.gross_amount_minor === null ? null : sold.gross,
  };
};

type Reversal =
  | (ReturnType<typeof reversalIn> & {
      readonly kind: 'done';
      readonly tenant_id: string;
      readonly balance: number;
      /** Whether this very request moved the balance; false for a repeat. */
      readonly credited: boolean;
      readonly position: bigint | undefined;
    })
  | { readonly kind: 'rejected'; readonly rejection: AccountRejection }
  | NotNow;

export type ReversedRefund = AccountEventOf<'RefundReversed'>['data'];

/** Undoes all or part of a refund; a repeat gives the reversal that it repeats. */
export const reverseRefund =
  (deps: ReversalsDeps) =>
  async (body: ReversalRequest, meta: CommandMeta): Promise<Reversal> => {
    const refund = await deps.grantById(body.refund_id);
    if (refund?.kind !== 'refund') return { kind: 'rejected', rejection: { code: 'refund_not_found' } };
    const command = reversalCommand(deps, body, { refund, meta });
    const { outcome, credited } = await deps.payments.reverseRefund(command);
    if (outcome.kind !== 'done') return outcome;
    const { kind, state, position } = outcome;
    const { tenant_id } = refund;
    return { kind, tenant_id, ...reversalIn(state, command), balance: state.balance, credited, position };
  };
