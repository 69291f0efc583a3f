import { allKept } from '../../../domain/kernel/history.ts';
import { expect } from 'chai';
import { account } from '../../../domain/account/account.ts';
import type { AccountCommand } from '../../../domain/account/messages.ts';
import { remainingOf } from '../../../domain/account/payments.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import { adjust, charge, hold, refund, sell, settle } from '../../support/money/moneyCommands.ts';
import { specFor } from '../../support/specFor.ts';

const { given } = specFor(account);
const spend = (credits: number) => charge(credits);
const leftOf = (...past: readonly AccountCommand[]) => {
  const [sold] = allKept(given(...past).state().sales);
  return sold === undefined ? undefined : remainingOf(sold);
};

describe('refunding a sale', () => {
  it('takes back money with credits and VAT in proportion', () => {
    given(sell())
      .when(refund({ gross_amount_minor: 397 }))
      .then([
        'CreditsRefunded',
        {
          grant_id: 'grt_stripe_pay_1',
          credits: 333,
          gross_amount_minor: 397,
          vat_amount_minor: 63,
          currency: 'EUR',
          balance_after: 667,
        },
      ]);
  });

  it('takes all remaining credits and VAT with all remaining money', () => {
    given(
      sell(),
      refund({ gross_amount_minor: 397 }),
      refund({ provider_txn_id: 'ref_2', gross_amount_minor: 397 }),
    )
      .when(refund({ provider_txn_id: 'ref_3', gross_amount_minor: 396 }))
      .then(['CreditsRefunded', { credits: 334, vat_amount_minor: 63, balance_after: 0 }]);
  });

  it('takes VAT and fee of each part by all parts so far, so that they add up to the whole', () => {
    const of = sell({ gross_amount_minor: 100, vat_amount_minor: 16, provider_fee_minor: 5 });
    const part = (n: number) =>
      refund({ provider_txn_id: `part_${n}`, gross_amount_minor: 10, provider_fee_minor: null });
    const parts = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(part);
    const taken = parts.map((one, n) => {
      const state = given(of, ...parts.slice(0, n), one).state();
      const [sold] = allKept(state.sales);
      return [sold?.refunded_vat_minor, sold?.refunded_fee_minor];
    });
    expect(taken.map(([vat]) => vat)).to.deep.equal([2, 3, 5, 6, 8, 10, 11, 13, 14, 16]);
    expect(taken.map(([, fee]) => fee)).to.deep.equal([0, 1, 2, 2, 2, 3, 4, 4, 4, 5]);
  });

  it('makes up for what an earlier part stated otherwise', () => {
    given(sell(), refund({ gross_amount_minor: 595, vat_amount_minor: 0 }))
      .when(refund({ provider_txn_id: 'ref_2', gross_amount_minor: 297 }))
      .then(['CreditsRefunded', { vat_amount_minor: 142, provider_fee_minor: 0 }]);
    given(sell(), refund({ gross_amount_minor: 595, vat_amount_minor: 190 }))
      .when(refund({ provider_txn_id: 'ref_2', gross_amount_minor: 297 }))
      .then(['CreditsRefunded', { vat_amount_minor: 0 }]);
  });

  it('takes money alone, or credits alone', () => {
    given(sell())
      .when(refund({ gross_amount_minor: 1_190, credits: asCredits(0) }))
      .then(['CreditsRefunded', { credits: 0, gross_amount_minor: 1_190, balance_after: 1_000 }]);
    given(sell())
      .when(refund({ credits: asCredits(250) }))
      .then(['CreditsRefunded', { credits: 250, gross_amount_minor: 0, vat_amount_minor: 0 }]);
  });

  it('takes what is stated where it is stated', () => {
    given(sell())
      .when(
        refund({
          gross_amount_minor: 595,
          credits: asCredits(100),
          vat_amount_minor: 10,
          provider_fee_minor: 45,
        }),
      )
      .then([
        'CreditsRefunded',
        { credits: 100, gross_amount_minor: 595, vat_amount_minor: 10, provider_fee_minor: 45 },
      ]);
  });

  it('leaves no more VAT behind than money, so that the last refund can carry it', () => {
    const gross = { gross_amount_minor: 600_462, vat_amount_minor: 300_232, provider_fee_minor: 0 };
    const part = (n: number, gross_amount_minor: number) =>
      refund({ provider_txn_id: `part_${n}`, gross_amount_minor, provider_fee_minor: 0 });
    given(sell(gross), part(1, 1), part(2, 600_460))
      .when(part(3, 1))
      .then(['CreditsRefunded', { gross_amount_minor: 1, vat_amount_minor: 1 }]);
    given(sell(gross), part(1, 1))
      .when(part(2, 600_460))
      .then(['CreditsRefunded', { vat_amount_minor: 300_230 }]);
  });

  it('never derives more than is left', () => {
    given(sell(), refund({ credits: asCredits(900) }))
      .when(refund({ provider_txn_id: 'ref_2', gross_amount_minor: 595 }))
      .then(['CreditsRefunded', { credits: 100 }]);
    given(sell(), refund({ gross_amount_minor: 1_180, credits: asCredits(0), vat_amount_minor: 0 }))
      .when(refund({ provider_txn_id: 'ref_2', gross_amount_minor: 10 }))
      .then(['CreditsRefunded', { credits: 1_000, vat_amount_minor: 10 }]);
  });

  describe('with a bonus', () => {
    /** 1,000 credits for 11.90 EUR, and 200 on top. */
    const withBonus = sell({ credits: asCredits(1_200), bonus_credits: asCredits(200) });
    const all = refund({ gross_amount_minor: 1_190 });

    it('takes the bonus back in proportion, and all of it with all of the money', () => {
      given(withBonus)
        .when(refund({ gross_amount_minor: 595 }))
        .then(['CreditsRefunded', { credits: 600, balance_after: 600 }]);
      given(withBonus)
        .when(all)
        .then(['CreditsRefunded', { credits: 1_200, balance_after: 0 }]);
    });

    it('takes the bonus back as far as it is there', () => {
      given(withBonus, spend(150))
        .when(all)
        .then(['CreditsRefunded', { credits: 1_050, balance_after: 0 }]);
      given(withBonus, spend(201))
        .when(all)
        .thenRejected({
          code: 'insufficient_balance',
          available_credits: asCredits(999),
          max_refundable_credits: asCredits(999),
        });
      given(withBonus, refund({ gross_amount_minor: 595 }), spend(60))
        .when(refund({ provider_txn_id: 'ref_2', gross_amount_minor: 595 }))
        .then(['CreditsRefunded', { credits: 540, balance_after: 0 }]);
    });

    it('takes as many credits as are stated', () => {
      given(withBonus)
        .when(refund({ gross_amount_minor: 1_190, credits: asCredits(1_000) }))
        .then(['CreditsRefunded', { credits: 1_000, balance_after: 200 }]);
    });
  });

  it('takes the credits of a sale that a coupon made free', () => {
    const free = { gross_amount_minor: 0, vat_amount_minor: 0, provider_fee_minor: 0, discount_minor: 1_000 };
    given(sell(free))
      .when(refund({ credits: asCredits(1_000) }))
      .then(['CreditsRefunded', { credits: 1_000, gross_amount_minor: 0, balance_after: 0 }]);
  });

  it('does not take credits for no money', () => {
    given(sell({ gross_amount_minor: null, vat_amount_minor: 0, provider_fee_minor: 0 }))
      .when(refund({ gross_amount_minor: 0 }))
      .then(['CreditsRefunded', { credits: 0, gross_amount_minor: 0 }]);
  });

  it('is honoured once', () => {
    given(sell(), refund({ gross_amount_minor: 397 }))
      .when(refund({ gross_amount_minor: 397 }))
      .thenNothing();
  });

  for (const changed of [
    { gross_amount_minor: 398 },
    { gross_amount_minor: 397, credits: asCredits(333) },
    { gross_amount_minor: 397, vat_amount_minor: 0 },
    { gross_amount_minor: 397, currency: 'EUR' },
    { gross_amount_minor: 397, original_provider_txn_id: 'pay_2' },
    { gross_amount_minor: 397, reason: 'other' },
  ])
    it(`refuses the same identity with ${JSON.stringify(changed)}`, () => {
      given(sell(), refund({ gross_amount_minor: 397 }))
        .when(refund(changed))
        .thenRejected({ code: 'idempotency_key_reused' });
    });

  it('refuses the identity of a sale', () => {
    given(sell())
      .when(refund({ provider_txn_id: 'pay_1', gross_amount_minor: 1 }))
      .thenRejected({ code: 'idempotency_key_reused' });
  });

  it('does not know a grant that is not there, or is itself a refund', () => {
    given()
      .when(refund({ gross_amount_minor: 1 }))
      .thenRejected({ code: 'original_grant_not_found' });
    given(sell(), refund({ gross_amount_minor: 119 }))
      .when(refund({ provider_txn_id: 'ref_2', original_provider_txn_id: 'ref_1', gross_amount_minor: 1 }))
      .thenRejected({ code: 'original_grant_not_found' });
  });

  it('refuses another currency, before it looks at amounts', () => {
    given(sell())
      .when(refund({ currency: 'USD', gross_amount_minor: 99_999 }))
      .thenRejected({ code: 'refund_mismatch', reason: 'currency' });
  });

  for (const [what, over] of [
    ['money', { gross_amount_minor: 594 }],
    ['credits', { credits: asCredits(501) }],
    ['VAT', { gross_amount_minor: 200, vat_amount_minor: 96 }],
    ['fee', { gross_amount_minor: 1, provider_fee_minor: 46 }],
  ] as const)
    it(`refuses more ${what} than is left, before it looks at the balance`, () => {
      const half = refund({ gross_amount_minor: 597, credits: asCredits(500), vat_amount_minor: 95 });
      given(sell(), half, spend(500))
        .when(refund({ provider_txn_id: 'ref_2', ...over }))
        .thenRejected({
          code: 'refund_exceeds_original',
          refundable_credits: asCredits(500),
          refundable_amount_minor: 593,
        });
    });

  it('refuses VAT above the money refunded', () => {
    given(sell())
      .when(refund({ gross_amount_minor: 5, vat_amount_minor: 6 }))
      .thenRejected({
        code: 'refund_exceeds_original',
        refundable_credits: asCredits(1_000),
        refundable_amount_minor: 1_190,
      });
  });

  it('refuses money of a sale that had none', () => {
    given(sell({ gross_amount_minor: null, vat_amount_minor: 0, provider_fee_minor: 0 }))
      .when(refund({ gross_amount_minor: 1 }))
      .thenRejected({
        code: 'refund_exceeds_original',
        refundable_credits: asCredits(1_000),
        refundable_amount_minor: null,
      });
  });

  it('refuses credits that were burned or are held, and says how many it can take', () => {
    const rejection = {
      code: 'insufficient_balance',
      available_credits: asCredits(600),
      max_refundable_credits: asCredits(600),
    } as const;
    given(sell(), spend(400))
      .when(refund({ gross_amount_minor: 1_190 }))
      .thenRejected(rejection);
    given(sell(), hold(60))
      .when(refund({ gross_amount_minor: 1_190 }))
      .thenRejected(rejection);
  });

  it('can take at most what is left of the sale, and nothing from a debt', () => {
    given(sell(), adjust(5_000), refund({ credits: asCredits(900) }), charge(5_050))
      .when(refund({ provider_txn_id: 'ref_2', credits: asCredits(100) }))
      .thenRejected({
        code: 'insufficient_balance',
        available_credits: asCredits(50),
        max_refundable_credits: asCredits(50),
      });
    given(sell(), adjust(-1_500, { allow_negative: true }))
      .when(refund({ credits: asCredits(100) }))
      .thenRejected({
        code: 'insufficient_balance',
        available_credits: asCredits(-500),
        max_refundable_credits: asCredits(0),
      });
    given(sell(), adjust(-1_500, { allow_negative: true }))
      .when(refund({ gross_amount_minor: 1_190, credits: asCredits(0) }))
      .then(['CreditsRefunded', { balance_after: -500 }]);
  });

  it('may be sent again with fewer credits after it was refused', () => {
    given(sell(), spend(400))
      .when(refund({ gross_amount_minor: 1_190, credits: asCredits(600) }))
      .then(['CreditsRefunded', { credits: 600, balance_after: 0 }]);
  });

  it('leaves nothing of a sale that was refunded in full', () => {
    const nothing = { credits: 0, gross: 0, vat: 0, fee: 0 };
    expect(leftOf(sell(), refund({ gross_amount_minor: 1_190, provider_fee_minor: 45 }))).to.deep.equal(
      nothing,
    );
  });

  it('leaves used credits as they are', () => {
    const state = given(hold(1), settle(1), sell(), spend(10), refund({ credits: asCredits(100) })).state();
    expect([state.purchased, state.used, state.balance]).to.deep.equal([900, 10, 890]);
  });
});
