import { account } from '../../../domain/account/account.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import {
  charge,
  hold,
  receive,
  refund,
  richest,
  sell,
  send,
  TENANT,
} from '../../support/money/moneyCommands.ts';
import { expect } from 'chai';
import { specFor } from '../../support/specFor.ts';

const { given } = specFor(account);

describe('credits sent to another tenant', () => {
  it('leave the balance, and were not bought back', () => {
    given(sell())
      .when(send(400))
      .then(['CreditsTransferredOut', { credits: 400, to_tenant_id: 'other', balance_after: 600 }]);
    const state = given(sell(), send(400)).state();
    expect([state.purchased, state.adjusted, state.balance]).to.deep.equal([1_000, -400, 600]);
  });

  it('are all that are available where none are named', () => {
    given(sell(), hold(10, { free_pages_allowance: 0, credits_per_page: asCredits(30) }))
      .when(send(null))
      .then(['CreditsTransferredOut', { credits: 700, balance_after: 300 }]);
  });

  it('are never more than the available ones', () => {
    given(sell(), charge(900))
      .when(send(101))
      .thenRejected({ code: 'insufficient_balance', available_credits: asCredits(100) });
    given(sell(), charge(1_000))
      .when(send(null))
      .thenRejected({ code: 'insufficient_balance', available_credits: asCredits(0) });
  });

  it('leave once under a key, and another request under it is refused', () => {
    given(sell(), send(400)).when(send(400)).thenNothing();
    given(sell(), send(400)).when(send(300)).thenRejected({ code: 'idempotency_key_reused' });
    given(sell(), send(400))
      .when(send(400, { idempotency_key: 'send_2' }))
      .then(['CreditsTransferredOut', { balance_after: 200 }]);
  });

  it('never go to the tenant itself', () => {
    given(sell())
      .when(send(400, { to_tenant_id: TENANT }))
      .thenRejected({ code: 'transfer_to_itself' });
  });

  it('leave their sale refundable in full, as far as credits are there', () => {
    const all = refund({ gross_amount_minor: 1_190 });
    given(sell(), send(400))
      .when(all)
      .thenRejected({
        code: 'insufficient_balance',
        available_credits: asCredits(600),
        max_refundable_credits: asCredits(600),
      });
    given(sell(), send(400), receive(400, 'trf_back'))
      .when(all)
      .then(['CreditsRefunded', { credits: 1_000 }]);
  });
});

describe('credits received from another tenant', () => {
  it('arrive once, in an account that they may open', () => {
    given()
      .when(receive(400))
      .then(['AccountOpened'], ['CreditsTransferredIn', { credits: 400, balance_after: 400 }]);
    given(receive(400)).when(receive(400)).thenNothing();
    given(receive(400))
      .when(receive(400, 'trf_2'))
      .then(['CreditsTransferredIn', { balance_after: 800 }]);
  });

  it('never arrive before they left, and never where they left', () => {
    const left_at = new Date(Date.parse(receive(400).meta.now) + 1).toISOString();
    given(sell())
      .when(receive(400, 'trf_1', { left_at }))
      .thenRejected({ code: 'transfer_too_early' });
    given(receive(400))
      .when(receive(400, 'trf_1', { left_at }))
      .thenNothing();
    given(sell())
      .when(receive(400, 'trf_1', { from_tenant_id: TENANT }))
      .thenRejected({ code: 'transfer_to_itself' });
  });

  it('are refused beyond 2^53', () => {
    given(...richest())
      .when(receive(1))
      .thenRejected({ code: 'credits_out_of_range' });
  });
});
