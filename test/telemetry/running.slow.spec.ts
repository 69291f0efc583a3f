import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { prepareDataDir } from '../support/preparedData.ts';
import { startQuire, type Quire } from '../../src/service/quire.ts';
import { configFrom } from '../../src/config.ts';
import { until } from '../../engine/test/support/until.ts';
import { client, formOf, INVOICE, INVOICE_SCHEMA } from '../http/support/client.ts';
import { ADMIN_KEY } from '../support/serviceProcess.ts';

const get = async (url: string): Promise<{ readonly status: number; readonly text: string }> => {
  const answer = await fetch(url);
  return { status: answer.status, text: await answer.text() };
};

/** A tenant with credits, and what it asks for. */
const customer = async (url: string) => {
  const api = client(url);
  await api.sell('acme', 1_000);
  return { api, key: await api.newKey('acme'), form: formOf({ schema: INVOICE_SCHEMA }, INVOICE) };
};

describe('a running service, as an operator sees it', () => {
  let folder: string;
  const running: Quire[] = [];
  const start = async (roles: string, dataDir: string): Promise<Quire> => {
    const env = { PORT: '0', ADMIN_API_KEY: ADMIN_KEY, LOG_LEVEL: 'silent', ROLES: roles };
    await prepareDataDir(join(folder, dataDir));
    const quire = await startQuire(configFrom({ ...env, DATA_DIR: join(folder, dataDir) }));
    running.push(quire);
    return quire;
  };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quire-seen-'));
  });
  after(async () => {
    for (const quire of running.splice(0)) await quire.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('shows what was sold and burned, what is open, and how far the read models are', async () => {
    const { url, stop } = await start('api,projector,worker', 'whole');
    const { api, key, form } = await customer(url);
    expect((await api.call('post', '/v1/extract', { key, form })).status).to.equal(200);
    const { text } = await get(`${url}/metrics`);
    for (const line of [
      'quire_appends_total{category="account",outcome="ok"}',
      'quire_commands_total{command="GrantCredits",outcome="done"} 1',
      'quire_burns_total{operation="extract"} 1',
      'quire_document_seconds_count{work="extract",outcome="ok"} 1',
      'quire_document_pages_total{source="markup"}',
      'quire_open_holds 0',
      'quire_open_claims 0',
      'quire_training_jobs{state="queued"} 0',
      'quire_operations_waiting 0',
      'quire_oldest_waiting_operation_seconds 0',
      'quire_worker_places{state="busy"} 0',
      'quire_worker_places{state="free"} 3',
      'quire_projecting 1',
      'quire_projector_stopped{projector="balances"} 0',
      'quire_projection_lag_events{projector="ledger"}',
      'quire_part_up{part="event_log"} 1',
      'quire_heavy_max',
      'process_resident_memory_bytes',
      'process_open_fds',
      'nodejs_eventloop_lag_p99_seconds',
    ])
      expect(text).to.contain(line);
    expect(text, 'no tenant in a label').to.not.contain('acme');
    expect((await get(`${url}/health/live`)).status).to.equal(200);
    expect(JSON.parse((await get(`${url}/health/ready`)).text)).to.deep.equal({
      status: 'ready',
      waiting_for: [],
    });
    await stop();
    running.pop();
  });

  it('shows operations that wait where nobody works on them', async () => {
    const { url } = await start('api,projector', 'idle');
    const { api, key, form } = await customer(url);
    const headers = { prefer: 'respond-async' };
    const accepted = await api.call('post', '/v1/extract', { key, form, headers });
    expect(accepted.status).to.equal(202);
    await api.call('get', `/v1/operations/${String(accepted.body['operation_id'])}`, { key });
    // It is counted by the list, which may be late.
    const text = await until(async () => {
      const metrics = await get(`${url}/metrics`);
      return metrics.text.includes('quire_operations_waiting 1\n') && metrics.text;
    }, 50);
    expect(text).to.match(/^quire_oldest_waiting_operation_seconds [0-9.e-]+$/m);
    expect(text).to.not.contain('quire_worker_places{');
  });

  for (const roles of ['projector', 'worker'])
    it(`answers health and metrics alone as ${roles}`, async () => {
      const { url } = await start(roles, roles);
      expect((await get(`${url}/health`)).status).to.equal(200);
      expect((await get(`${url}/health/live`)).status).to.equal(200);
      expect((await get(`${url}/health/ready`)).status).to.equal(200);
      const { text } = await get(`${url}/metrics`);
      expect(text).to.contain(`quire_projecting ${roles === 'projector' ? '1' : '0'}`);
      expect((await get(`${url}/v1/billing/rates`)).status).to.equal(404);
      expect((await get(`${url}/docs`)).status).to.equal(404);
    });
});
