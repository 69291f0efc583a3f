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
});
