import { z } from 'zod';
import { modeOf, quote, rateOf, ratedMode } from '../../../../domain/rating.ts';
import { get } from '../../defineRoute.ts';
import { invalid } from '../../problems.ts';
import { activeConfig } from '../../../commands/reference.ts';
import { tenantNotFound } from '../../reads/knownTenant.ts';
import { tenantIdText, wholeNumberText } from '../../wire/basics.ts';
import { quoteResponse } from '../../wire/reports.ts';

export const getQuote = get('/v1/billing/quote', {
  summary: 'What pages would cost a tenant now',
  description: 'A quote and the bill that follows agree to the credit.',
  access: 'any',
  tenant: 'query',
  query: z.object({
    operation: z.enum(['extract', 'to_markdown']),
    billing_type: z.enum(['full_service', 'byok']),
    pages: wholeNumberText(0, Number.MAX_SAFE_INTEGER),
    tenant_id: tenantIdText,
    extraction_mode: z.enum(['fast', 'standard', 'balanced', 'robust', 'default']).default('balanced'),
  }),
  reply: { status: 200, schema: quoteResponse },
  problems: ['tenant_not_found'],
  handle: async ({ query }, deps) => {
    const { tenant_id, operation, billing_type, pages } = query;
    const extraction_mode = ratedMode(operation, modeOf(query.extraction_mode) ?? 'standard');
    const config = await activeConfig(deps.reference);
    const rate = rateOf(config, { operation, billing_type, extraction_mode });
    if (rate === undefined)
      throw invalid({
        loc: ['query', 'extraction_mode'],
        msg: `${operation} has no such mode.`,
        type: 'value_error',
      });
    if (!Number.isSafeInteger(pages * rate))
      throw invalid({ loc: ['query', 'pages'], msg: 'Beyond what can be billed.', type: 'too_big' });
    const state = await deps.accounts.stateOf(tenant_id);
    if (!state.opened) throw tenantNotFound();
    return {
      tenant_id,
      operation,
      extraction_mode,
      billing_type,
      ...quote(state, config, { pages, rate }),
    };
  },
});
