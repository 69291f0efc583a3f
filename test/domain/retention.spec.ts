import { expect } from 'chai';
import fc from 'fast-check';
import {
  KEPT_CLASSES,
  keptDays,
  type OwnDays,
  type Retention,
  tenantRetention,
  type TenantRetentionKind,
} from '../../domain/retention.ts';
import { after, specFor } from '../support/specFor.ts';

const { given } = specFor(tenantRetention);
const NOW = '2026-01-31T08:00:00.000Z';
const INSTALLATION: Retention = { uploads: 30, results: 2, examples: 0, deliveries: 30 };
const NONE: OwnDays = { uploads: null, results: null, examples: null, deliveries: null };

const set = (days: Partial<OwnDays>, tenant_id = 'acme', installation = INSTALLATION) =>
  ({
    type: 'SetRetention',
    data: { tenant_id, days: { ...NONE, ...days }, installation },
    meta: { now: NOW, actor: { key_id: 'k', role: 'admin' }, correlation_id: 'r', command_id: 'c' },
  }) as const satisfies TenantRetentionKind['command'];

const keptOf = (...past: readonly TenantRetentionKind['command'][]) =>
  keptDays(INSTALLATION, after(tenantRetention, past));

describe('days for which things of a tenant are kept', () => {
  it('are fewer than those of the installation', () => {
    given()
      .when(set({ uploads: 7, results: 2 }))
      .then([
        'RetentionSet',
        { tenant_id: 'acme', days: { ...NONE, uploads: 7, results: 2 }, updated_at: NOW, updated_by: 'k' },
      ]);
  });

  it('are never more, for that would break what the operator promises', () => {
    for (const what of ['uploads', 'results', 'deliveries'] as const) {
      const days = INSTALLATION[what];
      given()
        .when(set({ [what]: days + 1 }))
        .thenRejected({ code: 'kept_too_long', what, days });
    }
    given()
      .when(set({ examples: 36_500 }))
      .then(['RetentionSet']);
  });

  it('are replaced as a whole, and what holds already is not recorded again', () => {
    given(set({ uploads: 7 }))
      .when(set({ results: 1 }))
      .then(['RetentionSet', { days: { ...NONE, results: 1 } }]);
    given(set({ uploads: 7 }))
      .when(set({ uploads: 7 }))
      .thenNothing();
    given().when(set({})).thenNothing();
    given(set({ uploads: 7 }))
      .when(set({}))
      .then(['RetentionSet', { days: NONE }]);
  });

  it('are those of one tenant alone', () => {
    const kept = keptOf(set({ uploads: 7 }), set({ deliveries: 1 }, 'other'), set({ uploads: 8 }));
    expect(kept.of('acme')).to.deep.equal({ ...INSTALLATION, uploads: 8 });
    expect(kept.of('other')).to.deep.equal({ ...INSTALLATION, deliveries: 1 });
    expect(kept.of('nobody')).to.deep.equal(INSTALLATION);
    expect([...kept.tenants].sort()).to.deep.equal(['acme', 'other']);
  });

  it('are those of the installation, where these are fewer by now', () => {
    const { of } = keptDays(
      { ...INSTALLATION, uploads: 3, examples: 9 },
      after(tenantRetention, [set({ uploads: 7, examples: 20 })]),
    );
    expect(of('acme')).to.deep.equal({ ...INSTALLATION, uploads: 3, examples: 9 });
  });

  it('never let anything be kept for longer than the installation does', () => {
    const most = fc.integer({ min: 0, max: 40 });
    const own = fc.option(fc.integer({ min: 1, max: 40 }));
    const byClass = <T>(days: fc.Arbitrary<T>) =>
      fc.record({ uploads: days, results: days, examples: days, deliveries: days });
    const seed = Date.now();
    fc.assert(
      fc.property(byClass(most), byClass(most), byClass(own), (then, now, days) => {
        const decision = tenantRetention.decide(tenantRetention.initialState, set(days, 'acme', then));
        const isAllowed = KEPT_CLASSES.every((what) => then[what] === 0 || (days[what] ?? 0) <= then[what]);
        expect(decision.kind === 'accepted').to.equal(isAllowed);
        if (decision.kind === 'rejected') return;
        const kept = keptDays(
          now,
          decision.events.reduce(tenantRetention.evolve, tenantRetention.initialState),
        );
        for (const what of KEPT_CLASSES) {
          const [has, all, wanted] = [kept.of('acme')[what], now[what], days[what]];
          if (all > 0) expect(has).to.be.within(1, all);
          if (wanted !== null) expect(has).to.be.within(1, wanted);
          else expect(has).to.equal(all);
        }
      }),
      { seed },
    );
  });
});
