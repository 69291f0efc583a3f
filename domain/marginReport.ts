/** Sums of a period that the margin report is made of; money in micro-USD, credits whole. */
export interface MarginSums {
  readonly priced_credits: bigint;
  readonly given_credits: bigint;
  readonly unpriced_credits: bigint;
  /** Recognised as credits were consumed. */
  readonly net: bigint;
  readonly amount: bigint;
  readonly implied: bigint;
  readonly fee: bigint;
  readonly vat: bigint;
  /** Recognised by refunds, clawbacks and credits that filled a hole. */
  readonly true_up: bigint;
  /** Fees of disputes that their provider kept. */
  readonly dispute_fee: bigint;
}

/** 1,000 credits are 1 USD of list value. */
const MICRO_PER_CREDIT = 1_000n;

/** What the gap between realized and unit margin is made of; micro-USD. */
interface GapBreakdown {
  readonly fx_rate: bigint;
  readonly price_variance: bigint;
  readonly provider_fee: bigint;
  readonly promo: bigint;
  readonly unpriced: bigint;
  readonly refund_true_up: bigint;
  readonly dispute_fee: bigint;
  readonly rounding: bigint;
}

/** The three figures and the breakdown; micro-USD. */
interface MarginFigures {
  readonly credits_burned: bigint;
  readonly unit: { readonly revenue: bigint; readonly margin: bigint };
  readonly realized: {
    readonly gross: bigint;
    readonly net_revenue: bigint;
    readonly refunds: bigint;
    readonly dispute_fees: bigint;
    readonly margin: bigint;
  };
  /** Realized margin − unit margin. */
  readonly fx_effect: bigint;
  readonly gap: GapBreakdown;
}

/**
 * Unit margin = credits consumed × list value − K. Realized margin = recognised revenue + true-ups − fees of disputes
 * − K. Their gap is the sum of: fx = amount − implied; price variance = implied − list value; fee; given and unpriced
 * credits at list value; true-ups; fees of disputes; and what rounding left. Source: docs/explanation/margin-report.md.
 */
export const marginFigures = (sums: MarginSums, modelCost: bigint): MarginFigures => {
  const { net, amount, implied, fee, vat, true_up, dispute_fee } = sums;
  const credits_burned = sums.priced_credits + sums.given_credits + sums.unpriced_credits;
  const revenue = credits_burned * MICRO_PER_CREDIT;
  const unit = { revenue, margin: revenue - modelCost };
  const margin = net + true_up - dispute_fee - modelCost;
  return {
    credits_burned,
    unit,
    realized: {
      gross: net + vat + fee,
      net_revenue: net,
      refunds: true_up,
      dispute_fees: dispute_fee,
      margin,
    },
    fx_effect: margin - unit.margin,
    gap: {
      fx_rate: amount - implied,
      price_variance: implied - sums.priced_credits * MICRO_PER_CREDIT,
      provider_fee: -fee,
      promo: -sums.given_credits * MICRO_PER_CREDIT,
      unpriced: -sums.unpriced_credits * MICRO_PER_CREDIT,
      refund_true_up: true_up,
      dispute_fee: -dispute_fee,
      rounding: net - (amount - fee),
    },
  };
};
