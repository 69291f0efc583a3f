import { allKept } from '../../../domain/kernel/history.ts';
import { expect } from 'chai';
import { account } from '../../../domain/account/account.ts';
import type { AccountCommand } from '../../../domain/account/messages.ts';
import { remainingOf } from '../../../domain/account/payments.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import { charge, refund, reverse, richest, sell } from '../../support/money/moneyCommands.ts';
import { specFor } from '../../support/specFor.ts';

const { given } = specFor(account);
const all = refund({ gross_amount_minor: 1_190, provider_fee_minor: 45 });
const leftOf = (...past: readonly AccountCommand[]) =>
  remainingOf([...allKept(given(...past).state().sales)][0]!);

describe('reversing a refund', () => {
  it('gives back all of it when no amount is named, and the whole sale can be refunded again', () => {
    given(sell(), all)
      .when(reverse({ reason: 'dispute won' }))
      .then([
        'RefundReversed',
        {
          refund_id: 'rfd_ref_1',
          grant_id: 'grt_stripe_pay_1',
          credits: 1_000,
          currency: 'EUR',
          gross_amount_minor: 1_190,
          vat_amount_minor: 190,
          provider_fee_minor: 45,
          reason: 'dispute won',
          balance_after: 1_000,
        },
      ]);
    expect(leftOf(sell(), all, reverse())).to.deep.equal({ credits: 1_000, gross: 1_190, vat: 190, fee: 45 });
    const again = refund({ provider_txn_id: 'ref_2', gross_amount_minor: 1_190 });
    given(sell(), all, reverse())
      .when(again)
      .then(['CreditsRefunded', { credits: 1_000, balance_after: 0 }]);
  });

  it('gives back its part of the credits and VAT with part of the money, and all that is left with the rest', () => {
    const part = reverse({ gross_amount_minor: 397 });
    given(sell(), all)
      .when(part)
      .then([
        'RefundReversed',
        { credits: 333, vat_amount_minor: 63, provider_fee_minor: 15, balance_after: 333 },
      ]);
    given(sell(), all, part)
      .when(reverse({ provider_txn_id: 'won_2', gross_amount_minor: 793 }))
      .then(['RefundReversed', { credits: 667, vat_amount_minor: 127, provider_fee_minor: 30 }]);
  });

  it('gives back credits alone, or money alone', () => {
    given(sell(), all)
      .when(reverse({ credits: asCredits(250) }))
      .then(['RefundReversed', { credits: 250, gross_amount_minor: 0, vat_amount_minor: 0 }]);
    given(sell(), all)
      .when(reverse({ credits: asCredits(0), gross_amount_minor: 1_190 }))
      .then(['RefundReversed', { credits: 0, gross_amount_minor: 1_190, balance_after: 0 }]);
  });

  it('is honoured once, and its identity is that of nothing else', () => {
    given(sell(), all, reverse()).when(reverse()).thenNothing();
    for (const other of [
      reverse({ gross_amount_minor: 1 }),
      reverse({ reason: 'other' }),
      refund({ provider_txn_id: 'won_1', gross_amount_minor: 1 }),
      sell({ provider_txn_id: 'won_1' }),
    ])
      given(sell(), all, reverse()).when(other).thenRejected({ code: 'idempotency_key_reused' });
    for (const taken of ['pay_1', 'ref_1'])
      given(sell(), all)
        .when(reverse({ provider_txn_id: taken }))
        .thenRejected({ code: 'idempotency_key_reused' });
  });

  it('refuses more than the refund took, or what was reversed before', () => {
    const left = (credits: number, reversible_amount_minor: number) => ({
      code: 'reversal_exceeds_refund' as const,
      reversible_credits: asCredits(credits),
      reversible_amount_minor,
    });
    const half = refund({ gross_amount_minor: 595 });
    given(sell(), half)
      .when(reverse({ gross_amount_minor: 596 }))
      .thenRejected(left(500, 595));
    given(sell(), half)
      .when(reverse({ credits: asCredits(501) }))
      .thenRejected(left(500, 595));
    given(sell(), half, reverse())
      .when(reverse({ provider_txn_id: 'won_2' }))
      .thenRejected(left(0, 0));
  });

  it('refuses what is no refund of this tenant', () => {
    given(sell(), all)
      .when(reverse({ refund_provider_txn_id: 'pay_1' }))
      .thenRejected({ code: 'refund_not_found' });
    given(sell(), all)
      .when(reverse({ refund_id: 'rfd_other' }))
      .thenRejected({ code: 'refund_not_found' });
  });

  it('gives credits back whatever became of the others, and refuses a balance beyond 2^53', () => {
    given(sell(), refund({ credits: asCredits(400) }), charge(600))
      .when(reverse())
      .then(['RefundReversed', { credits: 400, balance_after: 400 }]);
    given(sell(), all, ...richest())
      .when(reverse())
      .thenRejected({ code: 'credits_out_of_range' });
  });
});
