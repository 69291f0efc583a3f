import { expect } from 'chai';
import { payment, type PaymentCommand } from '../../domain/payment.ts';
import { paymentKey, paymentStream } from '../../domain/account/messages.ts';
import { meta, NOW } from '../support/money/moneyCommands.ts';
import { specFor } from '../support/specFor.ts';

const { given } = specFor(payment);
const INTENT = { type: 'Unreadable', stored: { a: 1 } } as const;
const PAYMENT = { provider: 'stripe', provider_txn_id: 'pay_1' };

const claim = (
  over: Partial<Extract<PaymentCommand, { type: 'ClaimPayment' }>['data']> = {},
): PaymentCommand => ({
  type: 'ClaimPayment',
  data: { ...PAYMENT, tenant_id: 'acme', kind: 'sale', fingerprint: 'f1', intent: INTENT, ...over },
  meta,
});
const release = (fingerprint = 'f1'): PaymentCommand => ({
  type: 'ReleasePayment',
  data: { fingerprint, reason: 'refund_exceeds_original' },
  meta,
});

describe('claiming a payment', () => {
  it('takes the identity, with what it was claimed for', () => {
    given()
      .when(claim())
      .then(['PaymentClaimed', { ...PAYMENT, tenant_id: 'acme', intent: INTENT, claimed_at: NOW }]);
  });

  it('is honoured once for the same tenant, kind and payload', () => {
    given(claim()).when(claim()).thenNothing();
  });

  for (const other of [{ tenant_id: 'other' }, { kind: 'refund' }, { fingerprint: 'f2' }] as const)
    it(`refuses another ${Object.keys(other).join()}`, () => {
      given(claim()).when(claim(other)).thenRejected({ code: 'idempotency_key_reused' });
    });

  it('is free again after a release, for anybody', () => {
    given(claim(), release())
      .when(claim({ tenant_id: 'other', fingerprint: 'f2' }))
      .then(['PaymentClaimed', { tenant_id: 'other' }]);
  });
});

describe('releasing a payment', () => {
  it('frees the claim that is meant, once', () => {
    given(claim())
      .when(release())
      .then(['PaymentReleased', { ...PAYMENT, reason: 'refund_exceeds_original', released_at: NOW }]);
    given(claim(), release()).when(release()).thenNothing();
    given().when(release()).thenNothing();
  });

  it('leaves a claim alone that another took meanwhile', () => {
    given(claim(), release(), claim({ fingerprint: 'f2' }))
      .when(release())
      .thenNothing();
  });
});

describe('the identity of a payment', () => {
  it('knows a provider in any case, and a transaction exactly', () => {
    expect(paymentKey({ provider: 'Stripe', provider_txn_id: 'A' })).to.equal('stripe\u001fA');
    expect(paymentStream({ ...PAYMENT, provider: 'STRIPE' })).to.equal(paymentStream(PAYMENT));
    expect(paymentStream({ ...PAYMENT, provider_txn_id: 'PAY_1' })).not.to.equal(paymentStream(PAYMENT));
    expect(paymentStream(PAYMENT)).to.match(/^payment-[0-9a-f]{64}$/);
  });
});
