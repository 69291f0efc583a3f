import { allKept } from '../../../domain/kernel/history.ts';
import type { AccountCommand } from '../../../domain/account/messages.ts';
import { account } from '../../../domain/account/account.ts';
import { remainingOf } from '../../../domain/account/payments.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import {
  charge,
  dispute,
  hold,
  refund,
  reverse,
  richest,
  sell,
  tellDispute,
} from '../../support/money/moneyCommands.ts';
import { expect } from 'chai';
import { specFor } from '../../support/specFor.ts';

const { given } = specFor(account);
const leftOf = (...past: readonly AccountCommand[]) =>
  remainingOf([...allKept(given(...past).state().sales)][0]!);
const reused = (...members: readonly string[]) => ({ code: 'idempotency_key_reused' as const, members });

describe('a dispute', () => {
  it('takes back all credits and all money of its sale, and says its fee', () => {
    given(sell())
      .when(dispute({ fee_minor: 1_500 }))
      .then([
        'CreditsRefunded',
        {
          refund_id: 'dsp_dp_1',
          grant_id: 'grt_stripe_pay_1',
          credits: 1_000,
          gross_amount_minor: 1_190,
          vat_amount_minor: 190,
          provider_fee_minor: 0,
          balance_after: 0,
          dispute: { status: 'opened', fee_minor: 1_500 },
        },
      ]);
  });

  it('takes the credits that are there where some were used or are held, and the money in any case', () => {
    given(sell(), charge(600))
      .when(dispute())
      .then(['CreditsRefunded', { credits: 400, gross_amount_minor: 1_190, balance_after: 0 }]);
    given(sell(), charge(600), hold(10, { free_pages_allowance: 0, credits_per_page: asCredits(30) }))
      .when(dispute())
      .then(['CreditsRefunded', { credits: 100, balance_after: 300 }]);
    given(sell(), charge(1_000))
      .when(dispute())
      .then(['CreditsRefunded', { credits: 0, gross_amount_minor: 1_190, balance_after: 0 }]);
  });

  it('of part of the money takes its part of the credits, and of a sale without money all of them', () => {
    given(sell())
      .when(dispute({}, { gross_amount_minor: 595 }))
      .then(['CreditsRefunded', { credits: 500, gross_amount_minor: 595, vat_amount_minor: 95 }]);
    given(sell({ gross_amount_minor: null, vat_amount_minor: 0, provider_fee_minor: 0 }))
      .when(dispute())
      .then(['CreditsRefunded', { credits: 1_000, gross_amount_minor: 0 }]);
  });

  it('that is won gives back what it took, to be refunded again', () => {
    given(sell(), charge(600), dispute())
      .when(tellDispute('won'))
      .then(
        [
          'RefundReversed',
          {
            refund_id: 'dsp_dp_1',
            credits: 400,
            gross_amount_minor: 1_190,
            dispute: true,
            balance_after: 400,
          },
        ],
        ['DisputeChanged', { status: 'won', previous_status: 'opened', fee_minor: 0 }],
      );
    expect(leftOf(sell(), dispute(), tellDispute('won'))).to.deep.equal({
      credits: 1_000,
      gross: 1_190,
      vat: 190,
      fee: 45,
    });
    const again = refund({ gross_amount_minor: 1_190 });
    given(sell(), dispute(), tellDispute('won'))
      .when(again)
      .then(['CreditsRefunded', { credits: 1_000 }]);
  });

  it('that is lost ends, and moves nothing', () => {
    given(sell(), dispute())
      .when(tellDispute('lost', { fee_minor: 1_500 }))
      .then([
        'DisputeChanged',
        { status: 'lost', previous_status: 'opened', fee_minor: 1_500, previous_fee_minor: 0 },
      ]);
    expect(leftOf(sell(), dispute(), tellDispute('lost')).credits).to.equal(0);
  });

  it('that is told of when it is over takes what a lost one took, and nothing if it was won', () => {
    given(sell())
      .when(dispute({ status: 'lost' }))
      .then(['CreditsRefunded', { credits: 1_000, dispute: { status: 'lost', fee_minor: 0 } }]);
    given(sell())
      .when(dispute({ status: 'won', fee_minor: 1_500 }))
      .then(['CreditsRefunded', { credits: 0, gross_amount_minor: 0, balance_after: 1_000 }]);
    given(sell(), dispute({ status: 'won' }))
      .when(tellDispute('won'))
      .thenNothing();
  });

  it('told again, or told older news of, changes nothing', () => {
    given(sell(), dispute()).when(dispute()).thenNothing();
    given(sell(), dispute()).when(tellDispute('opened')).thenNothing();
    const known = [sell(), dispute({ fee_minor: 1_500 }), tellDispute('won')];
    for (const status of ['opened', 'won'] as const)
      given(...known)
        .when(tellDispute(status, { gross_amount_minor: 1_190, fee_minor: 1_500 }))
        .thenNothing();
  });

  it('refuses what contradicts: another end, another amount, another fee', () => {
    given(sell(), dispute(), tellDispute('lost')).when(tellDispute('won')).thenRejected(reused('status'));
    given(sell(), dispute(), tellDispute('won')).when(tellDispute('lost')).thenRejected(reused('status'));
    given(sell(), dispute({ fee_minor: 1_500 }))
      .when(tellDispute('opened', { gross_amount_minor: 1_000, fee_minor: 2_000 }))
      .thenRejected(reused('gross_amount_minor', 'fee_minor'));
  });

  it('is neither a refund that can be reversed nor a sale', () => {
    given(sell(), dispute())
      .when(reverse({ refund_provider_txn_id: 'dp_1', refund_id: 'dsp_dp_1' }))
      .thenRejected({ code: 'refund_not_found' });
    given(sell(), dispute(), tellDispute('won'))
      .when(sell({ provider_txn_id: 'dp_1' }))
      .thenRejected({ code: 'idempotency_key_reused' });
    given(sell(), refund({ gross_amount_minor: 100 }))
      .when(tellDispute('won', { provider_txn_id: 'ref_1' }))
      .thenRejected({ code: 'refund_not_found' });
  });

  it('refuses more money than is left of the sale, and a balance beyond 2^53', () => {
    const left = { refundable_credits: asCredits(1_000), refundable_amount_minor: 1_190 };
    given(sell())
      .when(dispute({}, { gross_amount_minor: 1_191 }))
      .thenRejected({ code: 'refund_exceeds_original', ...left });
    given(sell(), dispute(), ...richest())
      .when(tellDispute('won'))
      .thenRejected({ code: 'credits_out_of_range' });
  });
});
