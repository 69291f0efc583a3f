import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pagedPdf } from '../../engine/test/bench/pagedPdf.ts';
import { ledgerPages } from '../../engine/test/bench/pdfPages.ts';
import { until } from '../../engine/test/support/until.ts';
import { formOf } from '../http/support/client.ts';
import { replicaOf, type FleetRole, type Replica } from '../support/fleet/processes.ts';
import {
  eventStoreServer,
  objectServer,
  postgresServer,
  type FleetServer,
} from '../support/fleet/servers.ts';
import { ADMIN_KEY } from '../support/serviceProcess.ts';

const TENANT = 'acme';
const PAGES = 120;
const CREDITS = 100_000;
const SCHEMA = JSON.stringify({
  type: 'object',
  properties: {
    entries: {
      type: 'array',
      items: { type: 'object', properties: { voucher: { type: 'string' }, amount: { type: 'number' } } },
    },
  },
});

type Body = Record<string, unknown>;

/** An API, a projector and workers as processes, on servers of their own. */
describe('workers of operations as processes', function () {
  this.timeout(400_000);
  if (process.env['DATABASE_URL'] === undefined) {
    it('run when DATABASE_URL says that there is PostgreSQL');
    return;
  }

  let folder: string;
  const servers: FleetServer[] = [];
  const replicas: Replica[] = [];
  let env: Readonly<Record<string, string>>;
  let api: Replica;

  const replica = async (name: string, role: FleetRole): Promise<Replica> => {
    const one = await replicaOf({ name, role, dataDir: join(folder, name), env });
    replicas.push(one);
    await one.start();
    return one;
  };
  const asked = async (method: string, path: string, body?: FormData | Body): Promise<Body> => {
    const isForm = body instanceof FormData;
    const answer = await fetch(`${api.url}${path}`, {
      method,
      headers: {
        'x-api-key': ADMIN_KEY,
        ...(isForm ? { prefer: 'respond-async' } : { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    expect(answer.status, text).to.be.lessThan(300);
    return JSON.parse(text) as Body;
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quire-operations-'));
    await chmod(folder, 0o755);
    const [postgres, events, objects] = [
      await postgresServer(folder),
      await eventStoreServer(folder),
      await objectServer(folder),
    ];
    servers.push(postgres, events, objects);
    for (const server of [events, objects]) await server.start();
    env = { DATABASE_URL: postgres.url, EVENTSTORE_URL: events.url, ...objects.env };
    await replica('projector', 'projector');
    api = await replica('api', 'api');
  });
  after(async () => {
    for (const one of replicas) await one.kill();
    for (const server of servers) await server.kill();
    await rm(folder, { recursive: true, force: true });
  });

  it('take over, by the parts that are done, from one that was killed, and charge once', async () => {
    const first = await replica('first', 'worker');
    await asked('POST', '/v1/billing/credits', {
      tenant_id: TENANT,
      provider_txn_id: 'sale-1',
      credits: CREDITS,
      gross_amount_minor: CREDITS / 10,
    });
    const key = String((await asked('POST', '/v1/api-keys', { tenant_id: TENANT }))['key']);
    const file = new Blob([new Uint8Array(pagedPdf(ledgerPages(PAGES)))], { type: 'application/pdf' });
    const form = formOf({ schema: SCHEMA, mode: 'fast' }, file, 'ledger.pdf');
    const accepted = await fetch(`${api.url}/v1/extract`, {
      method: 'POST',
      headers: { 'x-api-key': key, prefer: 'respond-async' },
      body: form,
    });
    const said = await accepted.text();
    expect(accepted.status, said).to.equal(202);
    const { operation_id } = JSON.parse(said) as Body;
    const operation = () => asked('GET', `/v1/operations/${String(operation_id)}`);
    const pagesDone = async () => ((await operation())['pages'] as { readonly done: number }).done;
    await until(async () => (await pagesDone()) > 0, 200);
    await first.kill('SIGKILL');
    const before = await pagesDone();
    expect(before).to.be.lessThan(PAGES);
    expect(await operation()).to.include({ status: 'running' });

    await replica('second', 'worker');
    const succeeded = () => until(async () => (await operation())['status'] === 'succeeded', 500);
    // The lease of the first worker has to end before: that alone may take as long as anything is waited for.
    await succeeded().catch(succeeded).catch(succeeded);
    const done = await operation();
    expect(done).to.deep.include({ pages: { done: PAGES, total: PAGES } });
    expect(done)
      .to.have.nested.property('result.result.entries')
      .that.has.lengthOf(30 * PAGES);
    const { credits_used } = done['cost'] as { readonly credits_used: number };
    expect(credits_used).to.equal(10 * (PAGES - 50));
    const balance = await asked('GET', `/v1/billing/balance/${TENANT}`);
    expect(balance).to.include({ balance_credits: CREDITS - credits_used, held_credits: 0 });
    const usage = await asked('GET', `/v1/billing/usage/${TENANT}`);
    // Free pages and paid ones of one operation are a row each.
    const rows = usage['items'] as readonly { readonly pages: number }[];
    expect(rows.map(({ pages }) => pages).sort((a, b) => a - b)).to.deep.equal([50, PAGES - 50]);
  });
});
