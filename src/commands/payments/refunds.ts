import { remainingOf } from '../../../domain/account/payments.ts';
import {
  type AccountRejection,
  type PaymentIdentity,
  paymentKey,
  type RefundCredits,
} from '../../../domain/account/messages.ts';
import type { AccountState } from '../../../domain/account/state.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import { timeInFuture, type TimeInFuture } from '../reference/futureTime.ts';
import type { NotNow } from '../writer/outcome.ts';
import { digestOf, type Paid, type Refused, type SalesDeps } from './sales.ts';

/** A refund as a caller tells of it; what is left out is derived by the account. */
export interface RefundRequest extends PaymentIdentity {
  readonly tenant_id: string;
  readonly original_provider?: string | null | undefined;
  readonly original_provider_txn_id: string;
  readonly credits?: number | null | undefined;
  readonly currency?: string | null | undefined;
  readonly gross_amount_minor?: number | null | undefined;
  readonly vat_amount_minor?: number | null | undefined;
  readonly provider_fee_minor: number;
  readonly occurred_at?: string | null | undefined;
  readonly reason?: string | null | undefined;
}

type RefundsDeps = Pick<SalesDeps, 'clock' | 'payments' | 'claimantOf'>;

const refundCommand = (
  { clock }: RefundsDeps,
  body: RefundRequest,
  { occurred_at, meta }: { readonly occurred_at: string; readonly meta: CommandMeta },
): RefundCredits => ({
  type: 'RefundCredits',
  meta,
  data: {
    tenant_id: body.tenant_id,
    refund_id: clock.newId('rfd'),
    provider: body.provider,
    provider_txn_id: body.provider_txn_id,
    original_provider: body.original_provider ?? body.provider,
    original_provider_txn_id: body.original_provider_txn_id,
    credits: typeof body.credits === 'number' ? asCredits(body.credits) : null,
    currency: body.currency ?? null,
    gross_amount_minor: body.gross_amount_minor ?? null,
    vat_amount_minor: body.vat_amount_minor ?? null,
    provider_fee_minor: body.provider_fee_minor,
    fingerprint: digestOf('refund', body),
    reason: body.reason ?? null,
    occurred_at,
  },
});

/** The refund under this identity, and what is left of its sale. */
const refundIn = ({ refunds, sales }: AccountState, { data }: RefundCredits) => {
  const refund = refunds.get(paymentKey(data));
  const sold = sales.find(({ sale }) => sale.grant_id === refund?.grant_id);
  if (refund === undefined || sold === undefined)
    throw new Error('a refund that was done is not in its account');
  const { credits, gross } = remainingOf(sold);
  return {
    refund,
    refundable_credits: credits,
    refundable_amount_minor: sold.sale.gross_amount_minor === null ? null : gross,
  };
};

/** A sale that another tenant made is not the same as one that nobody made. */
const isOfAnother = async ({ claimantOf }: RefundsDeps, { data }: RefundCredits): Promise<boolean> => {
  const { original_provider: provider, original_provider_txn_id: provider_txn_id } = data;
  const claimant = await claimantOf({ provider, provider_txn_id });
  return claimant?.kind === 'sale' && claimant.tenant_id !== data.tenant_id;
};

export type RefundRejection = AccountRejection | TimeInFuture | { readonly code: 'sale_of_another_tenant' };
type Refund = (Paid & ReturnType<typeof refundIn>) | Refused<RefundRejection> | NotNow;

/** Records a refund of all or part of a sale; a repeat gives the refund that it repeats. */
export const refundCredits =
  (deps: RefundsDeps) =>
  async (body: RefundRequest, meta: CommandMeta): Promise<Refund> => {
    const occurred_at = body.occurred_at ?? meta.now;
    const ahead = timeInFuture(occurred_at, meta.now, 'occurred_at');
    if (ahead !== undefined) return { kind: 'rejected', rejection: ahead };
    const command = refundCommand(deps, body, { occurred_at, meta });
    const { outcome, credited } = await deps.payments.refundCredits(command);
    const isUnknown = outcome.kind === 'rejected' && outcome.rejection.code === 'original_grant_not_found';
    if (isUnknown && (await isOfAnother(deps, command)))
      return { kind: 'rejected', rejection: { code: 'sale_of_another_tenant' } };
    if (outcome.kind !== 'done') return outcome;
    const { kind, state, position } = outcome;
    return { kind, ...refundIn(state, command), balance: state.balance, credited, position };
  };
