import type { AccountCommand } from '../../../domain/account/messages.ts';
import type { AnyEvent } from '../../../domain/catalogue.ts';
import type { BillingRate } from '../../../domain/billingConfig.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import type { Random } from '../../../engine/test/support/random.ts';
import type { Moment, Trade } from './trade.ts';

const MODES = [
  { mode: 'fast', full_service: 10, byok: 2 },
  { mode: 'standard', full_service: 40, byok: 5 },
  { mode: 'robust', full_service: 80, byok: 10 },
] as const;

/** Pages that every tenant has free. */
export const FREE_PAGES = 50;

/** What a page costs, by mode and billing type. */
export const RATES: readonly BillingRate[] = MODES.flatMap(({ mode, ...prices }) =>
  (['full_service', 'byok'] as const).map((billing_type) => ({
    operation: 'extract',
    extraction_mode: mode,
    billing_type,
    credits_per_page: asCredits(prices[billing_type]),
  })),
);

const work = (random: Random, tenant: string, { serial, at }: Moment) => {
  const { mode, ...prices } = random.pick(MODES);
  const billing_type = random.next() < 0.2 ? ('byok' as const) : ('full_service' as const);
  return {
    tenant,
    at,
    mode,
    billing_type,
    credits_per_page: asCredits(prices[billing_type]),
    pages: random.between(1, 8),
    fails: random.next() < 0.04,
    task_id: random.pick(['default', 'invoices', 'contracts', 'receipts']),
    extraction_id: `ext_${serial}`,
    document_id: `doc_${serial}`,
    hold_id: `hold_${serial}`,
    id: String(serial),
  };
};

type Work = ReturnType<typeof work>;

const asked = ({ tenant, at, ...of }: Work): readonly [AnyEvent, AnyEvent] => {
  const scope = { tenant_id: tenant, project_id: 'default', task_id: of.task_id };
  const { document_id, extraction_id, mode, billing_type, pages, hold_id } = of;
  const file = { file_name: `${of.id}.pdf`, mime_type: 'application/pdf', bytes: 84_213, pages };
  const seen = { document_id, ...scope, ...file, sha256: of.id.padStart(64, '0') };
  const request = { extraction_id, ...scope, document_id, document_sha256: seen.sha256, mode, billing_type };
  const models = { model: 'local/default', ocr_model: null };
  return [
    { type: 'DocumentRegistered', data: { ...seen, source: 'extract', created_at: at } },
    {
      type: 'ExtractionRequested',
      data: { ...request, ...models, pages, hold_id, api_key_id: 'key_bench', requested_at: at },
    },
  ];
};

const hold = ({ tenant, mode, billing_type, ...of }: Work, meta: CommandMeta): AccountCommand => ({
  type: 'HoldCredits',
  data: {
    tenant_id: tenant,
    hold_id: of.hold_id,
    operation_id: of.extraction_id,
    operation: 'extract',
    category: 'extraction',
    extraction_mode: mode,
    billing_type,
    pages: of.pages,
    credits_per_page: of.credits_per_page,
    free_pages_allowance: FREE_PAGES,
    billing_config_version: 1,
    expires_at: of.at,
  },
  meta,
});

const settle = ({ tenant, ...of }: Work, meta: CommandMeta): AccountCommand => ({
  type: 'SettleHold',
  data: {
    tenant_id: tenant,
    usage_id: `use_${of.id}`,
    hold_id: of.hold_id,
    pages: of.pages,
    project_id: 'default',
    task_id: of.task_id,
    document_id: of.document_id,
    job_id: null,
    api_key_id: 'key_bench',
  },
  meta,
});

const called = ({ tenant, at, ...of }: Work): AnyEvent => ({
  type: 'LlmCostLogged',
  data: {
    cost_id: `llm_${of.id}`,
    tenant_id: tenant,
    entry_id: null,
    fingerprint: of.id,
    job_id: of.extraction_id,
    operation: 'extract',
    provider: 'openai',
    model_name: 'gpt-4o-mini',
    input_tokens: of.pages * 900,
    output_tokens: of.pages * 150,
    cached_input_tokens: 0,
    pages: of.pages,
    cost_usd: `0.${String(of.pages * 225).padStart(6, '0')}`,
    cost_source: 'computed',
    document_id: of.document_id,
    task_id: of.task_id,
    billing_type: of.billing_type,
    free_tier: false,
    occurred_at: at,
    created_at: at,
  },
});

/** A document that arrives, is held for, worked on, and settled or released. */
export const extract = async (trade: Trade, tenant: string, moment: Moment): Promise<void> => {
  const { random, accounts, publish, metaAt } = trade;
  const of = work(random, tenant, moment);
  const meta = (step: string) => metaAt(of.at, `${step}-${of.id}`);
  const [seen, requested] = asked(of);
  const stream = `extraction-${of.extraction_id}`;
  await publish(`document-${of.document_id}`, [seen], meta('doc'));
  await accounts.execute(hold(of, meta('hold')));
  await publish(stream, [requested], meta('ask'));
  const { extraction_id, pages } = of;
  if (of.fails) {
    const data = { extraction_id, tenant_id: tenant, code: 'unreadable_file', failed_at: of.at };
    const released = { tenant_id: tenant, hold_id: of.hold_id, reason: 'failed' as const };
    await accounts.execute({ type: 'ReleaseHold', data: released, meta: meta('release') });
    await publish(stream, [{ type: 'ExtractionFailed', data }], meta('end'));
    return;
  }
  if (of.mode === 'robust') await publish(`llmCost-${tenant}`, [called(of)], meta('llm'));
  const usedBefore = accounts.stateOf(tenant).free_pages_used;
  await accounts.execute(settle(of, meta('settle')));
  const free_pages = accounts.stateOf(tenant).free_pages_used - usedBefore;
  const done = { extraction_id, tenant_id: tenant, status: 'success' as const, pages, free_pages };
  const completed = { ...done, duration_ms: 120, completed_at: of.at };
  await publish(stream, [{ type: 'ExtractionCompleted', data: completed }], meta('end'));
};
