import { expect } from 'chai';
import fc from 'fast-check';
import { account } from '../../domain/account/account.ts';
import {
  activeBillingConfig,
  billingConfig,
  type BillingConfigCommand,
  type BillingRate,
  DEFAULT_RATES,
  DEFAULT_TERMS,
  type TermsChange,
} from '../../domain/billingConfig.ts';
import { asCredits } from '../../domain/kernel/amounts.ts';
import { modeOf, priceTraining, quote, ratedMode, rateOf } from '../../domain/rating.ts';
import { anyHistory } from '../support/money/accountArbitrary.ts';
import { adjust, hold, meta, NOW, richest, settle } from '../support/money/moneyCommands.ts';
import { holds } from '../../engine/test/support/properties.ts';
import { after, specFor } from '../support/specFor.ts';

const { given } = specFor(billingConfig);
const publish = (terms: TermsChange = {}): BillingConfigCommand => ({
  type: 'PublishBillingConfig',
  data: { terms, note: null },
  meta,
});
const setRate = (credits_per_page: number, over: Partial<BillingRate> = {}): BillingConfigCommand => ({
  type: 'SetBillingRate',
  data: {
    operation: 'extract',
    extraction_mode: 'fast',
    billing_type: 'byok',
    credits_per_page: asCredits(credits_per_page),
    ...over,
  },
  meta,
});

describe('billing configs', () => {
  it('start with the terms and rates of the interface', () => {
    given()
      .when(publish())
      .then([
        'BillingConfigPublished',
        { version: 1, terms: DEFAULT_TERMS, rates: [...DEFAULT_RATES], created_at: NOW, created_by: 'key_1' },
      ]);
    expect(DEFAULT_TERMS).to.deep.equal({
      free_pages: 50,
      examples_export_fee_credits: 5_000,
      training: {
        base_credits: { light: 2_000, medium: 6_000, heavy: 18_000 },
        credits_per_example: 20,
        credits_per_metric_call: 10,
      },
      hold_ttl_seconds: 900,
    });
  });

  it('carry over what is left out, at every depth', () => {
    const { terms } = activeBillingConfig(
      given(
        publish({ free_pages: 10 }),
        publish({ training: { base_credits: { light: asCredits(1) } } }),
        publish({ hold_ttl_seconds: 60 }),
      ).state(),
    )!;
    expect(terms).to.deep.equal({
      ...DEFAULT_TERMS,
      free_pages: 10,
      training: { ...DEFAULT_TERMS.training, base_credits: { light: 1, medium: 6_000, heavy: 18_000 } },
      hold_ttl_seconds: 60,
    });
  });

  it('take 0 as an answer', () => {
    expect(activeBillingConfig(given(publish({ free_pages: 0 })).state())?.terms.free_pages).to.equal(0);
  });

  it('have a new version for a rate too, and keep the old one as it was', () => {
    given(publish())
      .when(setRate(3))
      .then(['BillingRateSet', { version: 2 }]);
    const { versions } = given(publish({ free_pages: 7 }), setRate(3)).state();
    expect(versions.map(({ version }) => version)).to.deep.equal([1, 2]);
    expect(versions[1]?.terms).to.deep.equal(versions[0]?.terms);
    expect(versions.map((one) => rateOf(one, KEY))).to.deep.equal([2, 3]);
    expect(versions[1]?.rates).to.have.length(DEFAULT_RATES.length);
  });

  it('set a rate on the defaults when nothing was published', () => {
    const config = activeBillingConfig(given(setRate(3)).state())!;
    expect([config.version, rateOf(config, KEY), config.rates.length]).to.deep.equal([
      1,
      3,
      DEFAULT_RATES.length,
    ]);
  });
});

const KEY = { operation: 'extract', extraction_mode: 'fast', billing_type: 'byok' } as const;
const config = activeBillingConfig(after(billingConfig, [publish()]))!;

describe('rates', () => {
  for (const [operation, mode, full, byok] of [
    ['extract', 'fast', 10, 2],
    ['extract', 'standard', 40, 5],
    ['extract', 'robust', 80, 10],
    ['to_markdown', 'default', 40, 5],
    ['to_markdown', 'fast', 10, 2],
  ] as const)
    it(`are ${full} and ${byok} credits a page for ${operation} ${mode}`, () => {
      const key = { operation, extraction_mode: mode };
      expect(rateOf(config, { ...key, billing_type: 'full_service' })).to.equal(full);
      expect(rateOf(config, { ...key, billing_type: 'byok' })).to.equal(byok);
    });

  it('know balanced as standard, and the ordinary mode of a conversion', () => {
    expect([modeOf('balanced'), modeOf('robust'), modeOf('turbo')]).to.deep.equal([
      'standard',
      'robust',
      undefined,
    ]);
    expect(ratedMode('to_markdown', 'standard')).to.equal('default');
    expect(ratedMode('extract', 'standard')).to.equal('standard');
  });

  it('of work that may wait are those of other work until they are set, and set alone', () => {
    const waiting = { ...KEY, completion_window: '24h' } as const;
    expect(rateOf(config, waiting)).to.equal(2);
    const changed = activeBillingConfig(
      given(publish(), setRate(1, { completion_window: '24h' }), publish({ free_pages: 1 })).state(),
    )!;
    expect([rateOf(changed, KEY), rateOf(changed, waiting)]).to.deep.equal([2, 1]);
    expect(changed.rates).to.have.length(DEFAULT_RATES.length + 1);
    expect(rateOf(changed, { ...waiting, extraction_mode: 'robust' })).to.equal(10);
    const again = activeBillingConfig(
      given(publish(), setRate(1, { completion_window: '24h' }), setRate(7)).state(),
    )!;
    expect([rateOf(again, KEY), rateOf(again, waiting)]).to.deep.equal([7, 1]);
  });

  it('are not there for a mode that an operation does not have', () => {
    const key = { extraction_mode: 'robust', billing_type: 'byok' } as const;
    expect(rateOf(config, { ...key, operation: 'to_markdown' })).to.equal(undefined);
  });
});

describe('a quote', () => {
  it('takes free pages first, and says what is missing', () => {
    expect(quote(after(account, [adjust(399)]), config, { pages: 60, rate: asCredits(40) })).to.deep.equal({
      pages: 60,
      free_pages_applied: 50,
      billable_pages: 10,
      credits_per_page: 40,
      credits: 400,
      list_value_usd: '0.40',
      available_credits: 399,
      sufficient: false,
      billing_config_version: 1,
    });
  });

  it('is nothing for no pages, and never enough for a price beyond 2^53', () => {
    const rich = after(account, [...richest()]);
    expect(quote(rich, config, { pages: 0, rate: asCredits(40) })).to.include({
      credits: 0,
      sufficient: true,
    });
    expect(quote(rich, config, { pages: Number.MAX_SAFE_INTEGER, rate: asCredits(40) })).to.include({
      credits: Number.MAX_SAFE_INTEGER,
      sufficient: false,
    });
  });

  holds(
    'agrees with the hold and the bill that follow, for any account',
    fc.property(
      anyHistory,
      fc.integer({ min: 0, max: 200 }),
      fc.constantFrom(2, 5, 10, 40, 80),
      (history, pages, rate) => {
        const state = history.reduce((before, command) => {
          const decision = account.decide(before, command);
          return decision.kind === 'accepted' ? decision.events.reduce(account.evolve, before) : before;
        }, account.initialState);
        const quoted = quote(state, config, { pages, rate: asCredits(rate) });
        const work = { hold_id: 'hold_q', operation_id: 'ext_q' };
        const held = account.decide(state, hold(pages, { ...work, credits_per_page: asCredits(rate) }));
        expect(held.kind).to.equal(quoted.sufficient ? 'accepted' : 'rejected');
        if (held.kind === 'rejected') return;
        const placed = held.events.reduce(account.evolve, state);
        const billed = account.decide(placed, settle(pages, { hold_id: 'hold_q', usage_id: 'use_q' }));
        const burn = billed.kind === 'accepted' ? billed.events.at(-1)?.data : undefined;
        expect(burn).to.deep.include({ credits: quoted.credits, free_pages: quoted.free_pages_applied });
      },
    ),
    0.5,
  );
});

describe('a training price', () => {
  const work = { optimizer_tier: 'light', total_examples: 10, max_metric_calls: null } as const;

  it('is base, examples and metric calls; with an own key no metric calls', () => {
    expect(priceTraining(DEFAULT_TERMS, { ...work, billing_type: 'full_service' })).to.deep.equal({
      max_metric_calls: 60,
      credits: 2_800,
      breakdown: { base: 2_000, examples: 200, metric_calls: 600 },
    });
    expect(priceTraining(DEFAULT_TERMS, { ...work, billing_type: 'byok' }).credits).to.equal(2_200);
    expect(
      priceTraining(DEFAULT_TERMS, { ...work, billing_type: 'full_service', max_metric_calls: 0 }).credits,
    ).to.equal(2_200);
  });
});
