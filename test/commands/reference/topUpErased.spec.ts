import { expect } from 'chai';
import { ERASURES_STREAM, erasureCodec, erasures, type ErasuresKind } from '../../../domain/erasure.ts';
import { topUpCommands } from '../../../src/commands/apiKeys.ts';
import { commandHandler } from '../../../src/writer/commandHandler.ts';
import { memoryEventStore } from '../../support/logs/memoryEventStore.ts';

const metaAt = (now: string, command_id: string) => ({
  now,
  actor: { key_id: 'key_admin', role: 'admin' } as const,
  correlation_id: 'r',
  command_id,
});

const CONSENT = {
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
} as const;

describe('a consent to top-ups whose tenant is erased', () => {
  it('is over at once in every process, also where the log has who pays as text', async () => {
    // Without a vault: this log keeps texts as an earlier release wrote them.
    const store = memoryEventStore();
    const [here, there] = [topUpCommands(store), topUpCommands(store)];
    await here.set(CONSENT, metaAt('2026-01-31T08:00:00.000Z', '2f1c6f0e-7a8b-4c8d-9e10-000000000001'));
    const changed = { ...CONSENT, payer: 'cus_2' };
    await here.set(changed, metaAt('2026-01-31T08:01:00.000Z', '2f1c6f0e-7a8b-4c8d-9e10-000000000002'));
    expect((await there.stateOf('acme')).set).to.include({ active: true, payer: 'cus_2' });

    const rules = { decider: erasures, codec: erasureCodec, store };
    const erase = commandHandler<ErasuresKind>({ ...rules, tenantOf: ({ data }) => data.tenant_id });
    const meta = metaAt('2026-01-31T08:02:00.000Z', '2f1c6f0e-7a8b-4c8d-9e10-000000000003');
    await erase(ERASURES_STREAM, { type: 'EraseTenant', data: { tenant_id: 'acme' }, meta });

    const nobody = { active: false, payer: null, payment_method: null, credits: 5_000 };
    for (const one of [here, there]) {
      const left = await one.stateOf('acme');
      expect(left.set).to.include(nobody);
      expect(left.formerPayers).to.deep.equal([]);
    }
    const again = metaAt('2026-01-31T08:03:00.000Z', '2f1c6f0e-7a8b-4c8d-9e10-000000000004');
    const named = await there.set({ ...CONSENT, payer: 'cus_3' }, again);
    expect(named.kind === 'done' && named.state.formerPayers).to.deep.equal([]);
    expect((await here.stateOf('acme')).set).to.include({ active: true, payer: 'cus_3' });
  });
});
