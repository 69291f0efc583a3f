import { KEPT_A_DAY, post } from '../../defineRoute.ts';
import { SALE_REJECTIONS } from '../../doneOrProblem.ts';
import { addCreditsRequest, addCreditsResponse } from '../../wire/money.ts';

export const addCredits = post('/v1/billing/credits', {
  summary: 'Record a sale of credits',
  description:
    'Checked against the price list, never priced from a default. A retry with the same ' +
    '`provider` and `provider_txn_id` answers the original grant with `credited: false`.',
  access: 'admin',
  tenant: 'body',
  idempotency: KEPT_A_DAY,
  body: addCreditsRequest,
  reply: { status: 200, schema: addCreditsResponse },
  problems: [
    'currency_not_offered',
    'price_mismatch',
    'price_list_version_unknown',
    'idempotency_key_reused',
    'busy',
  ],
  handle: async ({ body, meta, doneOr }, deps) => {
    const { sale, balance, credited, position } = doneOr(await deps.sellCredits(body, meta), SALE_REJECTIONS);
    deps.reads.note(body.tenant_id, position);
    const { gross_amount_minor: gross, vat_amount_minor } = sale;
    return {
      grant_id: sale.grant_id,
      tenant_id: body.tenant_id,
      credits: sale.credits,
      currency: sale.currency,
      gross_amount_minor: gross,
      vat_amount_minor,
      net_amount_minor: gross === null ? null : gross - vat_amount_minor,
      provider_fee_minor: sale.provider_fee_minor,
      provider: sale.provider,
      provider_txn_id: sale.provider_txn_id,
      price_list_version: sale.price_list_version,
      fx_rate_to_usd: sale.fx_rate_to_usd,
      fx_rate_date: sale.fx_rate_date,
      balance_credits: balance,
      credited,
      occurred_at: sale.occurred_at,
      created_at: sale.created_at,
    };
  },
});
