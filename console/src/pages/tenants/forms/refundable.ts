import type { GrantItem } from '@quire/client';
import type { Refundable } from './pricing.ts';

/** A sale with what is left of it to refund. */
export interface RefundableSale extends Refundable {
  readonly sale: GrantItem;
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + Math.abs(value), 0);

const leftOf = (sale: GrantItem, refunds: readonly GrantItem[]): RefundableSale => {
  const gross = sale.gross_amount_minor ?? 0;
  return {
    sale,
    credits: sale.credits,
    gross,
    left: {
      credits: sale.credits - Math.abs(sale.refunded_credits),
      gross: gross - Math.abs(sale.refunded_amount_minor),
      vat: sale.vat_amount_minor - sum(refunds.map(({ vat_amount_minor }) => vat_amount_minor)),
      fee: sale.provider_fee_minor - sum(refunds.map(({ provider_fee_minor }) => provider_fee_minor)),
    },
  };
};

/** Of grants as the service lists them, the sales that have anything left to refund. */
export const refundableOf = (grants: readonly GrantItem[]): readonly RefundableSale[] => {
  const refunds = new Map<string, GrantItem[]>();
  for (const grant of grants)
    if (grant.original_grant_id !== null)
      refunds.set(grant.original_grant_id, [...(refunds.get(grant.original_grant_id) ?? []), grant]);
  return grants
    .filter(({ kind }) => kind === 'sale')
    .map((sale) => leftOf(sale, refunds.get(sale.grant_id) ?? []))
    .filter(({ left }) => left.credits > 0 || left.gross > 0);
};
