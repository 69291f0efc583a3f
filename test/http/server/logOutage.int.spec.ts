import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
// Time itself is meant: that after which a cached figure is too old.
// eslint-disable-next-line no-restricted-imports
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { startEsdbDouble } from '../../support/esdbDouble/esdbDouble.ts';
import { until } from '../../../engine/test/support/until.ts';
import { startService, type ServiceProcess } from '../../support/serviceProcess.ts';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';
import { client } from '../support/client.ts';

/** What an operator's shop sends while EventStoreDB is away: nothing may be refused for good, nothing is our defect. */
describe('the API while the event log is away', () => {
  const folder = tempFolder();
  let double: Awaited<ReturnType<typeof startEsdbDouble>>;
  let file: string;
  let service: ServiceProcess;

  before(async () => {
    file = join(folder.path, 'events.log');
    double = await startEsdbDouble({ file });
    service = await startService(folder.path, { EVENTSTORE_URL: double.connectionString });
  });
  after(async () => {
    await service.stop('SIGKILL');
    await double.close().catch(() => undefined);
    folder.remove();
  });

  /** Asks until the service has an answer; how long it takes to find the log again depends on the machine. */
  const answered = (call: () => Promise<{ readonly status: number }>): Promise<number> =>
    until(async () => {
      const { status } = await call();
      return status === 503 ? undefined : status;
    }, 50);

  /** Keys that no process has looked up in the log before: each is a read of its own. */
  const UNSEEN = 20;

  it('answers keys that it has not seen before with 503 while the log is frozen, never with 401', async () => {
    const api = client(service.url);
    const keys: string[] = [];
    for (let n = 0; n < UNSEEN; n += 1) keys.push(await api.newKey('frozen'));
    const balances = () =>
      Promise.all(keys.map((key) => api.call('get', '/v1/billing/balance/frozen', { key })));
    double.freeze(true);
    const frozen = await balances();
    double.freeze(false);
    expect(frozen.map(({ status }) => status)).to.deep.equal(keys.map(() => 503));
    for (const key of keys) {
      const status = await answered(() => api.call('get', '/v1/billing/balance/frozen', { key }));
      expect(status, 'once the log answers again').to.equal(200);
    }
  });

  it('answers every money command with 503 and takes it once the log is back', async () => {
    const api = client(service.url);
    await api.newKey('acme');
    const txn = randomUUID();
    const sale = { tenant_id: 'acme', provider_txn_id: txn, credits: 1000, gross_amount_minor: 100 };
    expect((await api.call('post', '/v1/billing/credits', { json: sale })).status).to.equal(200);
    const refund = {
      tenant_id: 'acme',
      provider_txn_id: randomUUID(),
      original_provider_txn_id: txn,
      credits: 100,
      reason: 'returned',
    };
    const next = { ...sale, provider_txn_id: randomUUID() };
    const adjustment = { credits: 5, reason: 'goodwill' };
    const commands = [
      ['/v1/billing/credits', next],
      ['/v1/billing/refunds', refund],
      ['/v1/admin/tenants/acme/adjust-credits', adjustment],
    ] as const;
    const port = Number(new URL(double.connectionString).port);
    await double.close();
    // What is remembered of prices and rates is too old by now.
    await pause(1_100);
    const away = await Promise.all(commands.map(([path, json]) => api.call('post', path, { json })));
    expect(away.map(({ status }) => status)).to.deep.equal([503, 503, 503]);
    double = await startEsdbDouble({ file, port });
    for (const [path, json] of commands) {
      const headers = { 'idempotency-key': `${path}-again` };
      const status = await answered(() => api.call('post', path, { json, headers }));
      expect(status, path).to.equal(200);
    }
  });
});
