import { allKept } from '../../../domain/kernel/history.ts';
import { expect } from 'chai';
import { account } from '../../../domain/account/account.ts';
import { asCredits, MOVEMENT_MAX } from '../../../domain/kernel/amounts.ts';
import {
  adjust,
  bookRate,
  NOW,
  refund,
  richest,
  sell,
  setPlan,
  TENANT,
  tellMore,
} from '../../support/money/moneyCommands.ts';
import { specFor } from '../../support/specFor.ts';

const { given } = specFor(account);

describe('selling credits', () => {
  it('opens the account, grants, and moves the tenant from plan free to paid', () => {
    given()
      .when(sell())
      .then(
        ['AccountOpened', { tenant_id: TENANT, created_at: NOW }],
        [
          'CreditsGranted',
          { credits: 1_000, balance_after: 1_000, created_at: NOW, gross_amount_minor: 1_190 },
        ],
        ['PlanSet', { plan: 'paid', previous_plan: 'free', set_at: NOW }],
      );
  });

  it('leaves the plan alone when it is enterprise, and at a second sale', () => {
    given(setPlan('enterprise')).when(sell()).then(['CreditsGranted']);
    given(sell(), setPlan('free'))
      .when(sell({ provider_txn_id: 'pay_2' }))
      .then(['CreditsGranted', { balance_after: 2_000 }]);
  });

  it('records whose account it is in the stream alone', () => {
    const state = given(sell()).state();
    const [sold] = allKept(state.sales);
    expect(sold?.sale).not.to.have.property('tenant_id');
    expect(state.tenant_id).to.equal(TENANT);
  });

  it('takes the same payment once, whatever the case of the provider', () => {
    given(sell()).when(sell()).thenNothing();
    given(sell())
      .when({ ...sell(), data: { ...sell().data, provider: 'STRIPE' } })
      .thenNothing();
    given(sell())
      .when(sell({ provider: 'paypal' }))
      .then(['CreditsGranted', { balance_after: 2_000 }]);
  });

  for (const changed of [
    { credits: asCredits(999) },
    { currency: 'USD' },
    { bonus_credits: asCredits(100) },
    { discount_minor: 10 },
    { gross_amount_minor: 1_191 },
    { vat_amount_minor: 189 },
    { provider_fee_minor: 46 },
  ])
    it(`refuses the same payment with another ${Object.keys(changed).join()}`, () => {
      given(sell())
        .when(sell(changed))
        .thenRejected({ code: 'idempotency_key_reused', members: Object.keys(changed) });
    });

  for (const retold of [
    { occurred_at: '2026-01-30T08:00:00.000Z' },
    { note: 'again' },
    { invoice_ref: 'INV-2' },
    { price_list_version: 2 },
    { vat_amount_minor: 0 },
    { provider_fee_minor: 0 },
  ])
    it(`takes the same payment with another ${Object.keys(retold).join()} for a repeat`, () => {
      given(sell()).when(sell(retold)).thenNothing();
    });

  describe('of which more is known later', () => {
    const bare = sell({ vat_amount_minor: 0, provider_fee_minor: 0 });
    const facts = { vat_amount_minor: 190, provider_fee_minor: 45, invoice_ref: 'INV-1', payout_id: 'po_1' };

    it('takes the same payment with a fee and VAT for a repeat, and has them once they are added', () => {
      given(bare).when(sell()).thenNothing();
      given(bare)
        .when(tellMore(facts))
        .then(['SaleDetailsAdded', { grant_id: 'grt_stripe_pay_1', details: facts, created_at: NOW }]);
      given(bare, tellMore(facts)).when(bare).thenNothing();
      given(bare, tellMore(facts))
        .when(refund({ gross_amount_minor: 595, provider_fee_minor: null }))
        .then(['CreditsRefunded', { vat_amount_minor: 95, provider_fee_minor: 22 }]);
    });

    it('adds what is new, and nothing that is known', () => {
      given(sell())
        .when(tellMore(facts))
        .then(['SaleDetailsAdded', { details: { invoice_ref: 'INV-1', payout_id: 'po_1' } }]);
      given(bare, tellMore(facts)).when(tellMore(facts)).thenNothing();
      given(bare)
        .when(tellMore({ vat_amount_minor: 0, provider_fee_minor: 0 }))
        .thenNothing();
    });

    it('refuses what contradicts it, what exceeds its money, and facts of no sale', () => {
      const members = ['vat_amount_minor', 'provider_fee_minor', 'payout_id', 'invoice_ref'];
      const others = { vat_amount_minor: 1, provider_fee_minor: 1, payout_id: 'po_2', invoice_ref: 'INV-2' };
      given(bare, tellMore(facts))
        .when(tellMore(others))
        .thenRejected({ code: 'idempotency_key_reused', members });
      given(bare, tellMore(facts))
        .when(sell({ provider_fee_minor: 46 }))
        .thenRejected({ code: 'idempotency_key_reused', members: ['provider_fee_minor'] });
      given(bare)
        .when(tellMore({ provider_fee_minor: 1_191 }))
        .thenRejected({ code: 'idempotency_key_reused', members: ['provider_fee_minor'] });
      given().when(tellMore(facts)).thenRejected({ code: 'original_grant_not_found' });
    });
  });

  describe('at a rate that is known later', () => {
    const unpriced = sell({ fx_rate_to_usd: null, fx_rate_date: null });
    const rate = { fx_rate_to_usd: '1.1', fx_rate_date: '2026-01-30' };

    it('gets the rate once', () => {
      given(unpriced)
        .when(bookRate(rate))
        .then([
          'SaleRateBooked',
          {
            grant_id: 'grt_stripe_pay_1',
            ...rate,
            previous_rate: null,
            previous_rate_date: null,
            price_per_1000_credits: '10',
            sale_occurred_at: NOW,
            reason: null,
            created_at: NOW,
          },
        ]);
      given(unpriced, bookRate(rate))
        .when(bookRate({ ...rate, fx_rate_to_usd: '1.2' }))
        .thenNothing();
      given(sell()).when(bookRate(rate)).thenNothing();
    });

    it('gets another one where somebody says why', () => {
      const right = { ...rate, fx_rate_to_usd: '1.2', reason: 'mistyped' };
      const before = { previous_rate: '1.1', previous_rate_date: '2026-01-30' };
      given(sell())
        .when(bookRate(right))
        .then(['SaleRateBooked', { ...right, ...before }]);
      given(sell(), bookRate(right)).when(bookRate(right)).thenNothing();
      given(sell())
        .when(bookRate({ ...right, fx_rate_to_usd: '1.10' }))
        .thenNothing();
    });

    it('has none without money, and is none that was not sold', () => {
      given(
        sell({ gross_amount_minor: null, vat_amount_minor: 0, provider_fee_minor: 0, fx_rate_to_usd: null }),
      )
        .when(bookRate(rate))
        .thenNothing();
      given().when(bookRate(rate)).thenRejected({ code: 'original_grant_not_found' });
    });
  });

  it('refuses the identity of a refund', () => {
    given(sell(), refund({ gross_amount_minor: 119 }))
      .when(sell({ provider_txn_id: 'ref_1' }))
      .thenRejected({ code: 'idempotency_key_reused' });
  });

  it('never rounds: what would pass 2^53 − 1 credits is refused', () => {
    const rich = richest();
    given(...rich, adjust(-999))
      .when(sell())
      .thenRejected({ code: 'credits_out_of_range' });
    given(...rich, adjust(-1_000))
      .when(sell())
      .then(['CreditsGranted', { balance_after: Number.MAX_SAFE_INTEGER }], ['PlanSet']);
  });

  it('is 10^12 credits at most, as every movement', () => {
    given()
      .when(sell({ credits: asCredits(MOVEMENT_MAX + 1) }))
      .thenRejected({ code: 'credits_out_of_range' });
  });
});
