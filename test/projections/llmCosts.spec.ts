import { expect } from 'chai';
import fc from 'fast-check';
import { modelCost, priceFor, type PublishedPrice } from '../../domain/modelPrices.ts';
import type { ProjectedEvent, Sql } from '../../projections/engine/ports.ts';
import { ddlOf } from '../../projections/engine/table.ts';
import {
  findLlmCosts,
  freeTierSubsidy,
  llmCostsOfJob,
  llmCostsProjector,
  modelCostOfPeriod,
} from '../../projections/llmCosts.ts';
import { emptySql } from '../support/emptySql.ts';
import { propertyRuns } from '../../engine/test/support/properties.ts';

const at = (day: number, hour = 0) => new Date(Date.UTC(2026, 0, day, hour)).toISOString();

let position = 0n;
const recorded = (type: string, data: object, stream = 'account-acme') => {
  position += 1n;
  return { type, data, stream, position, metadata: {} } as unknown as ProjectedEvent;
};

const priceEvent = ({ price_id, provider, effective_from, created_at, ...rest }: PublishedPrice) =>
  provider === null
    ? recorded('ModelPriceSet', { price_id, ...rest, updated_at: effective_from })
    : recorded('ProviderPricePublished', { price_id, provider, effective_from, created_at, ...rest });

const callEvent = (cost_id: string, more: object) =>
  recorded('LlmCostLogged', {
    cost_id,
    tenant_id: 'acme',
    entry_id: null,
    fingerprint: '',
    job_id: cost_id,
    operation: 'extract',
    provider: 'p1',
    model_name: 'm1',
    input_tokens: 1000,
    output_tokens: 0,
    cached_input_tokens: 0,
    pages: null,
    cost_usd: null,
    cost_source: null,
    document_id: null,
    task_id: null,
    billing_type: 'full_service',
    free_tier: false,
    occurred_at: at(1),
    created_at: at(1),
    ...more,
  });

describe('model costs, read', () => {
  let sql: Sql;
  before(async () => {
    sql = await emptySql();
    await sql.script(`create schema read; create schema rm; ${ddlOf(llmCostsProjector.tables, 'rm')}`);
    for (const { name } of llmCostsProjector.tables)
      await sql.script(`create view read.${name} as select * from rm.${name}`);
  });
  beforeEach(() =>
    sql.script('truncate rm.llm_costs, rm.llm_cost_days, rm.model_prices, rm.free_operations'),
  );
  after(() => sql.close());
  const apply = (events: readonly ProjectedEvent[]) =>
    sql.transaction((tx) => llmCostsProjector.apply(tx, { schema: 'rm', events }));

  const micro = fc.integer({ min: 0, max: 3_000_000 }).map((units) => (units / 1_000_000).toFixed(6));
  const price = fc.record({
    provider: fc.constantFrom('p1', 'p2', null),
    model_name: fc.constantFrom('m1', 'm2', 'p1/m1', 'p2/m1'),
    input_usd_per_million_tokens: micro,
    output_usd_per_million_tokens: micro,
    cached_input_usd_per_million_tokens: fc.option(micro),
    usd_per_page: fc.option(micro),
    day: fc.integer({ min: 1, max: 5 }),
  });
  const call = fc.record({
    provider: fc.constantFrom('p1', 'p2'),
    model_name: fc.constantFrom('m1', 'm2'),
    input_tokens: fc.integer({ min: 500, max: 5_000_000 }),
    output_tokens: fc.nat(5_000_000),
    cached_input_tokens: fc.nat(500),
    pages: fc.option(fc.nat(20)),
    occurred_at: fc.integer({ min: 1, max: 5 }).map((day) => at(day)),
  });

  it('price calls without a cost exactly as the domain does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(price, { maxLength: 8 }), call, async (drawn, usage) => {
        await sql.script('truncate rm.llm_costs, rm.model_prices');
        const prices = drawn.map(({ day, ...rest }, n) => ({
          price_id: `price-${n}`,
          ...rest,
          effective_from: at(day),
          created_at: at(1),
        }));
        await apply([...prices.map(priceEvent), callEvent('c', usage)]);
        const expected = priceFor(prices, usage);
        const [found] = await llmCostsOfJob(sql)('c');
        expect(found?.cost_pico).to.equal(expected === undefined ? null : modelCost(expected, usage));
      }),
      { numRuns: propertyRuns(0.1) },
    );
  });

  it('are summed the same whether days are whole or cut', async () => {
    const costs = Array.from({ length: 40 }, (_, n) =>
      callEvent(`c${n}`, {
        occurred_at: at(1 + (n % 4), n % 24),
        ...(n % 3 === 0 ? {} : { cost_usd: '0.000001', cost_source: 'reported' }),
        provider: n % 2 === 0 ? 'p1' : 'p2',
      }),
    );
    await apply(costs);
    const sum = async (from: string, to: string) => {
      const groups = await findLlmCosts(sql)({ group_by: 'provider', from, to });
      return groups.reduce(
        (total, { calls, cost_pico, unpriced_calls }) => ({
          calls: total.calls + calls,
          cost_pico: total.cost_pico + cost_pico,
          unpriced_calls: total.unpriced_calls + unpriced_calls,
        }),
        { calls: 0, cost_pico: 0n, unpriced_calls: 0 },
      );
    };
    const all = await sum(at(1), '2026-01-04T23:59:59.999Z');
    expect(all).to.deep.equal({ calls: 40, cost_pico: 26_000_000n, unpriced_calls: 14 });
    for (const cut of [at(2, 7), at(3, 23), at(1, 1)]) {
      const before = new Date(Date.parse(cut) - 1).toISOString();
      const [left, right] = [await sum(at(1), before), await sum(cut, '2026-01-04T23:59:59.999Z')];
      expect(left.calls + right.calls).to.equal(40);
      expect(left.cost_pico + right.cost_pico).to.equal(all.cost_pico);
      expect(left.unpriced_calls + right.unpriced_calls).to.equal(14);
    }
    for (const group_by of ['job_id', 'tenant_id', 'day', 'operation', 'model_name'] as const) {
      const groups = await findLlmCosts(sql)({ group_by });
      expect(
        groups.reduce((total, { calls }) => total + calls, 0),
        group_by,
      ).to.equal(40);
    }
  });

  it('share the cost of an operation between its free and its paid pages', async () => {
    const burned = recorded('CreditsBurned', {
      operation_id: 'job-1',
      pages: 3,
      free_pages: 1,
      created_at: at(2),
    });
    await apply([
      burned,
      callEvent('half', {
        job_id: 'job-1',
        cost_usd: '0.00000000001',
        cost_source: 'reported',
        occurred_at: at(2),
      }),
      callEvent('free', { free_tier: true, cost_usd: '0.5', cost_source: 'reported', occurred_at: at(3) }),
      callEvent('own', { billing_type: 'byok', cost_usd: '9', cost_source: 'reported' }),
      callEvent('paid', { cost_usd: '1', cost_source: 'reported' }),
      callEvent('unknown', {}),
    ]);
    const whole = await modelCostOfPeriod(sql)({ from: at(1), to: at(31) });
    // Of 10 pico-USD for 3 pages the free one has 3.
    expect(whole).to.deep.equal({
      billed_pico_usd: 10n ** 12n + 7n,
      free_tier_pico_usd: 500_000_000_000n + 3n,
      unpriced_calls: 1,
    });
    const second = await modelCostOfPeriod(sql)({ from: at(2), to: at(2, 12) });
    expect(second).to.deep.equal({ billed_pico_usd: 7n, free_tier_pico_usd: 3n, unpriced_calls: 0 });
    expect(await freeTierSubsidy(sql)({})).to.deep.equal([
      { day: '2026-01-02', operations: 1, pages: 1, tenants: 1, cost_pico: 3n },
      { day: '2026-01-03', operations: 0, pages: 0, tenants: 0, cost_pico: 500_000_000_000n },
    ]);
  });
});
