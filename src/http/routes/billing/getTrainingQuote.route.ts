import { z } from 'zod';
import { availableIn } from '../../../../domain/account/state.ts';
import { TRAINING_COUNT_MAX } from '../../../../domain/billingConfig.ts';
import { listValueUsd } from '../../../../domain/kernel/amounts.ts';
import { priceTraining } from '../../../../domain/rating.ts';
import { get } from '../../defineRoute.ts';
import { activeConfig } from '../../../commands/reference.ts';
import { tenantNotFound } from '../../reads/knownTenant.ts';
import { tenantIdText, wholeNumberText } from '../../wire/basics.ts';
import { trainingQuoteResponse } from '../../wire/training.ts';

export const getTrainingQuote = get('/v1/billing/training-quote', {
  summary: 'What a training job would cost a tenant now',
  description: 'Without `max_metric_calls` the budget of the tier: light 60, medium 180, heavy 540.',
  access: 'any',
  tenant: 'query',
  query: z.object({
    tenant_id: tenantIdText,
    billing_type: z.enum(['full_service', 'byok']).default('full_service'),
    optimizer_tier: z.enum(['light', 'medium', 'heavy']).default('light'),
    total_examples: wholeNumberText(0, TRAINING_COUNT_MAX).default(0),
    max_metric_calls: wholeNumberText(0, TRAINING_COUNT_MAX).optional(),
  }),
  reply: { status: 200, schema: trainingQuoteResponse },
  problems: ['tenant_not_found'],
  handle: async ({ query }, deps) => {
    const { tenant_id, billing_type, optimizer_tier, total_examples } = query;
    const { terms } = await activeConfig(deps.reference);
    const state = await deps.accounts.stateOf(tenant_id);
    if (!state.opened) throw tenantNotFound();
    const price = priceTraining(terms, {
      billing_type,
      optimizer_tier,
      total_examples,
      max_metric_calls: query.max_metric_calls ?? null,
    });
    const available_credits = availableIn(state);
    return {
      ...{ tenant_id, billing_type, optimizer_tier, total_examples },
      ...price,
      list_value_usd: listValueUsd(price.credits),
      available_credits,
      sufficient: price.credits <= available_credits,
      plan_allows: state.plan !== 'free',
    };
  },
});
