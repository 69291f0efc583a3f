import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { formatKey, keyTraces } from '../../domain/apiKey.ts';
import { configFrom } from '../../src/config.ts';
import { itemsOf } from '../../src/operator/socket.ts';
import { runOperation } from '../../src/operator/runOperation.ts';
import { startQuire } from '../../src/service/quire.ts';
import { ADMIN_KEY } from '../support/serviceProcess.ts';
import { startEsdbDouble } from '../support/esdbDouble/esdbDouble.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';

/** Starts the service over a folder, asks it one thing after the other, and ends it. */
const served = async <Answer>(
  folder: string,
  ask: (call: (path: string) => Promise<Record<string, unknown>>) => Promise<Answer>,
  env: Readonly<Record<string, string>> = {},
): Promise<Answer> => {
  const all = { PORT: '0', ADMIN_API_KEY: ADMIN_KEY, LOG_LEVEL: 'silent', DATA_DIR: folder, ...env };
  const service = await startQuire(configFrom(all));
  try {
    return await ask(async (path) => {
      const answer = await fetch(`${service.url}${path}`, { headers: { 'X-API-KEY': ADMIN_KEY } });
      const text = await answer.text();
      expect(answer.ok, text).to.equal(true);
      // a stream of events is one of a line each
      return JSON.parse(text.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
    });
  } finally {
    await service.stop();
  }
};

const tenantsOf = (call: (path: string) => Promise<Record<string, unknown>>) =>
  call('/v1/admin/tenants').then(({ items }) =>
    (items as readonly { readonly tenant_id: string }[]).map(({ tenant_id }) => tenant_id),
  );

describe('the tenant that is there to begin with', () => {
  const folder = tempFolder();
  after(() => folder.remove());
  const at = (name: string): string => `${folder.path}/${name}`;

  it('is made by one event of the first start, and can be worked for; later starts leave it', async () => {
    const lastOf = (call: (path: string) => Promise<Record<string, unknown>>) =>
      call('/v1/admin/events?stream=account-default');
    const first = await served(at('new'), async (call) => {
      expect(await tenantsOf(call)).to.deep.equal(['default']);
      const quote = await call(
        '/v1/billing/quote?operation=extract&billing_type=full_service&pages=2&tenant_id=default',
      );
      expect(quote).to.include({ credits: 0, free_pages_applied: 2 });
      return lastOf(call);
    });
    expect(first).to.include({ type: 'AccountOpened', revision: '0' });
    expect(first['metadata']).to.deep.include({ actor: { key_id: 'system', role: 'system' } });
    await served(at('new'), async (call) => {
      expect(await tenantsOf(call)).to.deep.equal(['default']);
      expect(await lastOf(call)).to.deep.equal(first);
    });
  });

  it('is there beside the operator, whose key the first start makes', async () => {
    const { url, stop } = await startQuire(
      configFrom({ PORT: '0', LOG_LEVEL: 'silent', DATA_DIR: at('keyless') }),
    );
    await stop();
    expect(url).to.match(/^http/);
    await served(at('keyless'), async (call) => {
      expect(await tenantsOf(call)).to.have.members(['operator', 'default']);
    });
  });

  it('is not made on servers, nor where there is a tenant already', async () => {
    const double = await startEsdbDouble();
    try {
      await served(at('servers'), async (call) => expect(await tenantsOf(call)).to.deep.equal([]), {
        EVENTSTORE_URL: double.connectionString,
      });
    } finally {
      await double.close();
    }
    const key = { ...keyTraces(formatKey('tenant', randomBytes(96))), name: null, expires_at: null };
    const input = { ...key, tenant_id: 'acme', role: 'tenant' };
    const { signal } = new AbortController();
    await itemsOf((send) =>
      runOperation(configFrom({ DATA_DIR: at('others') }), { name: 'keys.create', input }, { send, signal }),
    );
    await served(at('others'), async (call) => expect(await tenantsOf(call)).to.deep.equal(['acme']));
  });
});
