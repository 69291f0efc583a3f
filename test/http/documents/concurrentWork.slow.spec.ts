import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { startService, type ServiceProcess } from '../../support/serviceProcess.ts';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';
import { client, formOf, INVOICE, INVOICE_SCHEMA, type Client } from '../support/client.ts';

const TENANT = 'crowd';
const WIDE = { rate_per_second: 10_000, burst: 10_000 };

describe('fifty extractions at once on a balance for twenty', () => {
  const folder = tempFolder();
  let service: ServiceProcess;
  let api: Client;
  let key: string;
  before(async () => {
    service = await startService(folder.path, { HEAVY_CONCURRENCY: '64' });
    api = client(service.url);
    key = await api.newKey(TENANT);
    await api.call('post', '/v1/billing/config', { json: { free_pages: 0 } });
    const json = { heavy: WIDE, general: WIDE };
    await api.call('put', `/v1/admin/tenants/${TENANT}/rate-limits`, { json });
    await api.sell(TENANT, 830);
  });
  after(async () => {
    await service.stop('SIGTERM');
    await rm(folder.path, { recursive: true, force: true });
  });

  it('delivers and bills exactly twenty, refuses thirty, and leaves no hold', async () => {
    const one = () =>
      api.call('post', '/v1/extract', { key, form: formOf({ schema: INVOICE_SCHEMA }, INVOICE) });
    const replies = await Promise.all(Array.from({ length: 50 }, one));
    const tally = new Map<string, number>();
    for (const { status, code } of replies) {
      const name = typeof code === 'string' ? `${status} ${code}` : String(status);
      tally.set(name, (tally.get(name) ?? 0) + 1);
    }
    expect(Object.fromEntries(tally)).to.deep.equal({ '200': 20, '403 insufficient_credits': 30 });
    const { body } = await api.call('get', `/v1/billing/balance/${TENANT}`);
    expect(body).to.include({ balance_credits: 30, held_credits: 0, total_credits_used: 800 });
    const usage = await api.call('get', `/v1/billing/usage/${TENANT}`);
    expect(usage.body['total']).to.equal(20);
  });
});
