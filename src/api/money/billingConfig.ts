import { completionWindow, ratedOperation } from '../../../domain/account/messages.ts';
import type { AccountWriter } from '../../writer/accountWriter.ts';
import { z } from 'zod';
import { type Route, routesOver } from '../../server/routes.ts';
import {
  activeConfig,
  configOf,
  newestConfig,
  publishBillingConfig,
  ratesSince,
  setRate,
  type ReferenceData,
} from '../../commands/reference.ts';
import { CONFIG_REJECTIONS } from '../schemas/rejections.ts';
import {
  billingConfigCreateRequest,
  billingConfigHistory,
  billingConfigResponse,
  billingRateItem,
  billingRatesResponse,
  upsertRateRequest,
} from './prices.ts';
import { isSameRate } from '../../../domain/billingConfig.ts';
import { billedAs, modeOf, priceTraining, quote, ratedMode, rateOf } from '../../../domain/rating.ts';
import { invalid, workFailure } from '../../server/problems.ts';
import { tenantNotFound, tenantIdText, wholeNumberText } from '../schemas/basics.ts';
import { quoteResponse } from './accounts.ts';
import { availableIn } from '../../../domain/account/state.ts';
import { TRAINING_COUNT_MAX } from '../../../domain/billingConfig.ts';
import { listValueUsd, MOVEMENT_MAX } from '../../../domain/kernel/amounts.ts';
import { trainingQuoteResponse } from '../schemas/pipelineSchemas.ts';

/** What these routes need. */
export interface BillingConfigDeps {
  readonly accounts: AccountWriter;
  readonly reference: ReferenceData;
}

const { get, post } = routesOver<BillingConfigDeps>();

export const createBillingConfig = post(
  '/v1/billing/config',
  {
    summary: 'Publish a billing config version',
    description:
      'Rates, free pages and training costs from now on. Every publication is a new version; usage keeps the version ' +
      'that billed it.',
    access: 'admin',
    body: billingConfigCreateRequest,
    reply: { status: 201, schema: billingConfigResponse },
    problems: ['busy'],
  },
  async ({ body, meta, doneOr }, { reference }) => {
    const { state } = doneOr(await publishBillingConfig(reference, body, meta), CONFIG_REJECTIONS);
    return configOf(state, newestConfig(state));
  },
);

export const createAdminBillingConfig: Route<BillingConfigDeps> = {
  ...createBillingConfig,
  path: '/v1/admin/billing-config',
};

export const getBillingConfigHistory = get(
  '/v1/admin/billing-config',
  {
    summary: 'The active billing config and all versions, newest first',
    description: 'What was charged when: each version, who published it and why.',
    access: 'admin',
    reply: { status: 200, schema: billingConfigHistory },
  },
  async (_request, { reference }) => {
    const state = await reference.billingConfig();
    const history = [...state.versions].reverse().map((config) => configOf(state, config));
    return { active: configOf(state, newestConfig(state)), history };
  },
);

export const getBillingConfig = get(
  '/v1/billing/config',
  {
    summary: 'The active billing config',
    description: 'What pages, trainings and exports cost now, and how many pages are free.',
    access: 'admin',
    reply: { status: 200, schema: billingConfigResponse },
  },
  async (_request, { reference }) => {
    const state = await reference.billingConfig();
    return configOf(state, newestConfig(state));
  },
);

export const getBillingRates = get(
  '/v1/billing/rates',
  {
    summary: 'Credits per page, by operation, mode and billing type',
    description: 'What a page costs now, for each kind of work.',
    access: 'any',
    reply: { status: 200, schema: billingRatesResponse },
  },
  async (_request, { reference }) => {
    const state = await reference.billingConfig();
    const config = newestConfig(state);
    return { version: config.version, items: ratesSince(state, config) };
  },
);

export const getQuote = get(
  '/v1/billing/quote',
  {
    summary: 'What pages would cost a tenant now',
    description:
      'The bill that follows agrees with the quote to the credit. Own-key rates (`byok`) are for work that a model ' +
      'of the caller does: with `models_for=doubtful` the embedded engine reads the document, so the quote is at ' +
      'full-service rates whatever `billing_type` says.',
    access: 'any',
    tenant: 'query',
    query: z.object({
      operation: ratedOperation,
      billing_type: z.enum(['full_service', 'byok']),
      pages: wholeNumberText(0, Number.MAX_SAFE_INTEGER),
      tenant_id: tenantIdText,
      extraction_mode: z.enum(['fast', 'standard', 'balanced', 'robust', 'default']).default('balanced'),
      completion_window: completionWindow
        .optional()
        .meta({ description: 'As the batch will say it; left out: the rate of work that does not wait.' }),
      models_for: z
        .enum(['all', 'doubtful'])
        .default('all')
        .meta({ description: 'As the extraction will say it.' }),
    }),
    reply: { status: 200, schema: quoteResponse },
    problems: ['tenant_not_found'],
  },
  async ({ query }, deps) => {
    const { tenant_id, operation, pages, completion_window } = query;
    const billing_type = billedAs(query.billing_type, query.models_for);
    const extraction_mode = ratedMode(operation, modeOf(query.extraction_mode) ?? 'standard');
    const config = await activeConfig(deps.reference);
    const rate = rateOf(config, { operation, billing_type, extraction_mode, completion_window });
    if (rate === undefined)
      throw invalid({
        loc: ['query', 'extraction_mode'],
        msg: `${operation} has no such mode.`,
        type: 'value_error',
      });
    if (pages * rate > MOVEMENT_MAX)
      throw invalid({ loc: ['query', 'pages'], msg: 'Beyond what can be billed.', type: 'too_big' });
    const state = await deps.accounts.stateOf(tenant_id);
    if (!state.opened) throw tenantNotFound();
    return {
      tenant_id,
      operation,
      extraction_mode,
      billing_type,
      completion_window: completion_window ?? null,
      ...quote(state, config, { pages, rate }),
    };
  },
);

export const getTrainingQuote = get(
  '/v1/billing/training-quote',
  {
    summary: 'What a training job would cost a tenant now',
    description:
      'If `max_metric_calls` is left out, the budget of the tier counts: light 60, medium 180, heavy 540.',
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
  },
  async ({ query }, deps) => {
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
      tenant_id,
      billing_type,
      optimizer_tier,
      total_examples,
      ...price,
      list_value_usd: listValueUsd(price.credits),
      available_credits,
      sufficient: price.credits <= available_credits,
      plan_allows: state.plan !== 'free',
    };
  },
);

export const setBillingRate = post(
  '/v1/billing/rates',
  {
    summary: 'Change one rate; a new billing config version',
    description: 'All other rates stay the same. The answer is the new version.',
    access: 'admin',
    body: upsertRateRequest,
    reply: { status: 200, schema: billingRateItem },
    problems: ['busy'],
  },
  async ({ body, meta, doneOr }, { reference }) => {
    const set = await setRate(reference, body, meta);
    if (set.kind === 'problem') throw workFailure(set);
    const { state } = doneOr(set.outcome, CONFIG_REJECTIONS);
    const item = ratesSince(state, newestConfig(state)).find(({ completion_window, ...rate }) =>
      isSameRate({ ...rate, completion_window: completion_window ?? undefined }, set.key),
    );
    if (item === undefined) throw new Error('a rate that was set is not in the billing config');
    return item;
  },
);
