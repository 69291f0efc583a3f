import { expect } from 'chai';
import { topUp, type TopUpKind } from '../../domain/topUp.ts';
import { specFor } from '../support/specFor.ts';

const { given } = specFor(topUp);
const NOW = '2026-01-31T08:00:00.000Z';

const set = (changes: Partial<TopUpKind['command']['data']> = {}) =>
  ({
    type: 'SetTopUp',
    data: {
      tenant_id: 'acme',
      active: true,
      threshold_credits: 1_000,
      credits: 5_000,
      currency: 'USD',
      monthly_credits_max: 20_000,
      payer: 'cus_1',
      payment_method: 'pm_1',
      consented_at: null,
      mayNamePayer: true,
      erased_at: null,
      ...changes,
    },
    meta: { now: NOW, actor: { key_id: 'k', role: 'admin' }, correlation_id: 'r', command_id: 'c' },
  }) as const satisfies TopUpKind['command'];

/** As a tenant sends it: without who pays. */
const own = { payer: null, payment_method: null, mayNamePayer: false };

describe('the consent to top-ups', () => {
  it('is recorded with who pays, and when the payer agreed', () => {
    given()
      .when(set())
      .then(['TopUpSet', { tenant_id: 'acme', payer: 'cus_1', consented_at: NOW, updated_by: 'k' }]);
    const consented_at = '2026-01-30T08:00:00.000Z';
    given()
      .when(set({ consented_at }))
      .then(['TopUpSet', { consented_at, updated_at: NOW }]);
  });

  it('is recorded once: a repeat changes nothing, another figure does', () => {
    given(set()).when(set()).thenNothing();
    given(set())
      .when(set({ credits: 6_000 }))
      .then(['TopUpSet', { credits: 6_000 }]);
  });

  it('needs somebody who pays', () => {
    given()
      .when(set({ payer: null }))
      .thenRejected({ code: 'payer_missing' });
  });

  it('is changed and taken back by its tenant, who cannot name another payer', () => {
    given(set())
      .when(set({ ...own, active: false }))
      .then(['TopUpSet', { active: false, payer: 'cus_1', payment_method: 'pm_1' }]);
    for (const change of [{ payer: 'cus_of_another' }, { payment_method: 'pm_of_another' }])
      given(set())
        .when(set({ ...own, ...change }))
        .thenRejected({ code: 'payer_refused' });
    given()
      .when(set({ ...own, payer: 'cus_1' }))
      .thenRejected({ code: 'payer_refused' });
  });

  it('is not given by a tenant for which nobody pays', () => {
    given().when(set(own)).thenRejected({ code: 'payer_missing' });
  });

  const told = (changes: object = {}) =>
    ({
      ...set(),
      type: 'TellTopUp',
      data: {
        tenant_id: 'acme',
        outcome: 'declined',
        provider: 'stripe',
        provider_txn_id: 'pi_1',
        reason: 'insufficient_funds',
        attempted_at: '2026-01-31T07:00:00.000Z',
        next_attempt_at: NOW,
        erased_at: null,
        ...changes,
      },
    }) as const satisfies TopUpKind['command'];

  it('has what became of the latest attempt, told once, and no older one', () => {
    given().when(told()).thenRejected({ code: 'consent_missing' });
    given(set())
      .when(told())
      .then(['TopUpTried', { outcome: 'declined', provider_txn_id: 'pi_1', told_at: NOW, told_by: 'k' }]);
    given(set(), told())
      .when(told({ next_attempt_at: null }))
      .thenNothing();
    given(set(), told())
      .when(told({ provider_txn_id: 'pi_0', attempted_at: '2026-01-31T06:59:59.999Z' }))
      .thenNothing();
    given(set(), told())
      .when(told({ outcome: 'charged', reason: null }))
      .then(['TopUpTried', { outcome: 'charged', provider_txn_id: 'pi_1' }]);
  });

  it('is told the end of a month once', () => {
    const limit = { outcome: 'limit', provider: null, provider_txn_id: null, reason: null };
    given(set(), told(limit))
      .when(told({ ...limit, attempted_at: NOW }))
      .thenNothing();
    given(set(), told(limit))
      .when(told({ ...limit, attempted_at: NOW, next_attempt_at: '2026-03-01T00:00:00.000Z' }))
      .then(['TopUpTried', { outcome: 'limit' }]);
  });

  const unpaid = { provider: null, provider_txn_id: null, next_attempt_at: null };
  const trouble = { ...unpaid, outcome: 'needs_a_person', reason: 'resource_missing', attempted_at: NOW };

  it('is told each trouble once, and another one too', () => {
    given(set(), told(trouble))
      .when(told({ ...trouble, attempted_at: '2026-01-31T09:00:00.000Z' }))
      .thenNothing();
    given(set(), told(trouble))
      .when(told({ ...trouble, reason: 'amount_too_small' }))
      .then(['TopUpTried', { reason: 'amount_too_small' }]);
  });

  it('has no attempt once another consent is given: the next one is news, a payment that was told is none', () => {
    const again = set({ credits: 6_000 });
    expect(given(set(), told(trouble)).when(again).state().lastAttempt).to.equal(null);
    given(set(), told(trouble), again)
      .when(told(trouble))
      .then(['TopUpTried', { reason: 'resource_missing' }]);
    given(set(), told(), again).when(told()).thenNothing();
    given(set(), told(), again)
      .when(told({ outcome: 'charged' }))
      .then(['TopUpTried', { outcome: 'charged' }]);
  });

  it('is told a payment by a clock that is minutes behind', () => {
    const charged = { outcome: 'charged', reason: null, next_attempt_at: null };
    given(set(), told(trouble))
      .when(told({ ...charged, attempted_at: '2026-01-31T07:55:00.000Z' }))
      .then(['TopUpTried', { outcome: 'charged' }]);
    given(set(), told(trouble))
      .when(told({ ...charged, attempted_at: '2026-01-31T07:54:59.000Z' }))
      .thenNothing();
    given(set(), told({ ...charged, attempted_at: NOW }))
      .when(told({ ...trouble, attempted_at: '2026-01-31T07:55:00.000Z' }))
      .then(['TopUpTried', { outcome: 'needs_a_person' }]);
    // Both at once, each time the same: neither is told without end.
    given(set(), told({ attempted_at: NOW }), told(trouble))
      .when(told({ attempted_at: NOW }))
      .thenNothing();
  });

  it('is told again what an erasure took from the answer', () => {
    given(set(), told(trouble))
      .when(told({ ...trouble, erased_at: NOW }))
      .then(['TopUpTried', { reason: 'resource_missing' }]);
    given(set(), told(trouble))
      .when(told({ ...trouble, erased_at: '2026-01-31T07:59:59.999Z' }))
      .thenNothing();
  });

  it('ends with the erasure of its tenant: nobody pays until one who may names somebody', () => {
    const erased = { erased_at: NOW };
    given(set())
      .when(set({ ...own, ...erased, active: false }))
      .thenRejected({ code: 'payer_missing' });
    for (const who of [own, { ...own, payer: 'cus_1', payment_method: 'pm_1' }])
      given(set())
        .when(set({ ...who, ...erased }))
        .thenRejected({ code: 'payer_refused' });
    given(set())
      .when(set(erased))
      .then(['TopUpSet', { payer: 'cus_1' }]);
    given(set())
      .when(set({ erased_at: '2026-01-31T07:59:59.999Z' }))
      .thenNothing();
  });
});
