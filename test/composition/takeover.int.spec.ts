import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { replicaOf, type FleetRole, type Replica } from '../support/fleet/processes.ts';
import { eventStoreServer, postgresServer, type FleetServer } from '../support/fleet/servers.ts';
import { ADMIN_KEY } from '../support/serviceProcess.ts';
import { until } from '../../engine/test/support/until.ts';

const TENANT = 'acme';
const CREDITS = 10_000;

/** Two projectors and an API as processes, on servers of their own. */
describe('projectors as processes', () => {
  if (process.env['DATABASE_URL'] === undefined) {
    it('run when DATABASE_URL says that there is PostgreSQL');
    return;
  }

  let folder: string;
  let database: FleetServer & { readonly url: string };
  let log: FleetServer & { readonly url: string };
  let first: Replica | undefined;
  let second: Replica | undefined;
  let api: Replica | undefined;
  let sold = 0;

  const replica = async (name: string, role: FleetRole): Promise<Replica> => {
    const env = { DATABASE_URL: database.url, EVENTSTORE_URL: log.url };
    const one = await replicaOf({ name, role, dataDir: join(folder, name), env });
    await one.start();
    return one;
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quire-takeover-'));
    await chmod(folder, 0o755);
    [database, log] = [await postgresServer(folder), await eventStoreServer(folder)];
    await log.start();
    first = await replica('first', 'projector');
    [second, api] = await Promise.all([replica('second', 'projector'), replica('api', 'api')]);
  });
  after(async () => {
    for (const one of [first, second, api]) await one?.kill();
    await Promise.all([database.kill(), log.kill()]);
    await rm(folder, { recursive: true, force: true });
  });

  const sell = async (): Promise<void> => {
    const answer = await fetch(`${String(api?.url)}/v1/billing/credits`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
      body: JSON.stringify({
        tenant_id: TENANT,
        provider_txn_id: randomUUID(),
        credits: CREDITS,
        gross_amount_minor: CREDITS / 10,
      }),
    });
    expect(answer.status, await answer.text()).to.equal(200);
    sold += CREDITS;
  };

  const projected = async (): Promise<number> => {
    const client = new pg.Client({ connectionString: database.url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ n: string }>(
        `select balance_credits as n from read.balances where tenant_id = '${TENANT}'`,
      );
      return Number(rows[0]?.n ?? 0);
    } finally {
      await client.end().catch(() => undefined);
    }
  };

  /** Milliseconds until the read models have all that was sold. */
  const untilProjected = async (): Promise<number> => {
    const began = performance.now();
    await until(async () => (await projected().catch(() => -1)) === sold, 50);
    return performance.now() - began;
  };

  it('the other one takes over within seconds when the active one is killed', async () => {
    await sell();
    await untilProjected();
    await first?.kill('SIGKILL');
    await sell();
    const tookMs = await untilProjected();
    expect(tookMs).to.be.lessThan(5_000);
  });

  it('goes on by itself after a crash of PostgreSQL', async () => {
    await database.kill();
    await database.start();
    await sell();
    expect(await untilProjected()).to.be.lessThan(10_000);
    expect(second?.isRunning()).to.equal(true);
  });

  it('the session of a frozen one is ended by the other, and it stands back when it thaws', async () => {
    first = await replica('third', 'projector');
    await sell();
    await untilProjected();
    await second?.freeze();
    await sell();
    const tookMs = await untilProjected();
    expect(tookMs).to.be.lessThan(25_000);
    expect(first.output()).to.contain('"kind":"evicted"');
    await second?.thaw();
    for (let n = 0; n < 5; n += 1) await sell();
    expect(await untilProjected()).to.be.lessThan(5_000);
    expect(second?.isRunning()).to.equal(true);
    await first.kill('SIGKILL');
    await sell();
    expect(await untilProjected(), 'the thawed one takes over in its turn').to.be.lessThan(10_000);
  });
});
