import { expect } from 'chai';
import { accountStream } from '../../../domain/account/messages.ts';
import { apiKeyStream, formatKey, keyTraces } from '../../../domain/apiKey.ts';
import { accountWriter } from '../../../src/writer/accountWriter.ts';
import { apiKeys, type KeyRecord } from '../../../src/commands/apiKeys.ts';
import { metaOf } from '../../support/money/accountCommands.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';
import { memoryEventStore } from '../../support/logs/memoryEventStore.ts';

const recordOf = (key_id: string, seed: number): Omit<KeyRecord, 'replaces'> => ({
  key_id,
  ...keyTraces(formatKey('tenant', new Uint8Array(64).fill(seed))),
  tenant_id: 't',
  role: 'tenant',
  name: null,
  expires_at: null,
});

const setUp = () => {
  const store = memoryEventStore();
  return { store, keys: apiKeys({ store, writer: accountWriter({ store }) }) };
};
const GRACE = '2026-01-31T09:00:00.000Z';

describe('API keys', () => {
  it('opens the account with the first key, and not again', async () => {
    const { store, keys } = setUp();
    expect((await keys.issue(recordOf('key_1', 1), metaOf())).kind).to.equal('done');
    expect((await keys.issue(recordOf('key_2', 2), metaOf())).kind).to.equal('done');
    expect(await eventsOf(store, accountStream('t'))).to.have.length(1);
    const [issued] = await eventsOf(store, apiKeyStream('key_1'));
    expect(issued?.metadata['tenant_id']).to.equal('t');
  });

  it('rotates once: the new key takes over, the old one runs out', async () => {
    const { keys } = setUp();
    await keys.issue(recordOf('key_1', 1), metaOf());
    const both = await Promise.all(
      [2, 3].map((n) => keys.rotate('key_1', { next: recordOf(`key_${n}`, n), expiresAt: GRACE }, metaOf())),
    );
    expect(both.map(({ kind }) => kind).sort()).to.deep.equal(['done', 'rejected']);
    expect((await keys.stateOf('key_1')).key?.expires_at).to.equal(GRACE);
    const states = await Promise.all([2, 3].map((n) => keys.stateOf(`key_${n}`)));
    expect(states.filter(({ key, revoked }) => key !== null && !revoked)).to.have.length(1);
  });

  it('revokes, and refuses keys that it does not know', async () => {
    const { keys } = setUp();
    await keys.issue(recordOf('key_1', 1), metaOf());
    expect((await keys.revoke('key_1', metaOf())).kind).to.equal('done');
    expect((await keys.stateOf('key_1')).revoked).to.equal(true);
    expect((await keys.revoke('key_9', metaOf())).kind).to.equal('rejected');
    const rotation = { next: recordOf('key_2', 2), expiresAt: GRACE };
    expect((await keys.rotate('key_1', rotation, metaOf())).kind).to.equal('rejected');
  });
});
