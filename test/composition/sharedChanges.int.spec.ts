import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { postgresSql } from '../../adapters/postgres.ts';
import { isWellFormedKey } from '../../domain/apiKey.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { queriesOn } from '../../src/queries/queries.ts';
import { authenticator, type Authenticator } from '../../src/server/keys.ts';
import { tenantLimits, type TenantLimits } from '../../src/server/limits.ts';
import { client, formOf, INVOICE, INVOICE_SCHEMA, type Client } from '../http/support/client.ts';
import { startEsdbDouble, type EsdbDouble } from '../support/esdbDouble/esdbDouble.ts';
import { startService, type ServiceProcess } from '../support/serviceProcess.ts';
import { tempDatabase, type TempDatabase } from '../support/tempDatabase.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { until } from '../../engine/test/support/until.ts';

const server = process.env['DATABASE_URL'];
const TENANT = 'acme';
/** How long a replica may go on with a key or a limit that another has changed. */
const CACHED_MS = 60_000;
/** How long a replica may go on with a price list or a billing config. */
const REFERENCE_MS = 1_000;
/** What a busy machine needs beside that. */
const SLACK_MS = 4_000;

describe('changes made on one replica', () => {
  if (server === undefined) {
    it('hold on the other, when DATABASE_URL names a server');
    return;
  }

  let log: EsdbDouble;
  let database: TempDatabase;
  let services: ServiceProcess[] = [];
  let [one, other]: Client[] = [];
  let sql: Sql;
  const folder = tempFolder();

  before(async () => {
    [log, database] = [await startEsdbDouble(), await tempDatabase(server)];
    // Replicas have one object store: what people write lies in it.
    for (const name of ['one/objects', 'other'])
      mkdirSync(join(folder.path, name), { recursive: true, mode: 0o700 });
    symlinkSync(join(folder.path, 'one/objects'), join(folder.path, 'other/objects'));
    const env = { EVENTSTORE_URL: log.connectionString, DATABASE_URL: database.url };
    services = await Promise.all(['one', 'other'].map((name) => startService(join(folder.path, name), env)));
    [one, other] = services.map(({ url }) => client(url));
    sql = postgresSql({ url: database.url });
  });
  after(async () => {
    await Promise.all(services.map((service) => service.stop('SIGKILL')));
    await sql.close();
    await log.close();
    await database.drop();
    folder.remove();
  });

  /** Milliseconds until `holds`. */
  const msUntil = async (holds: () => Promise<boolean>): Promise<number> => {
    const began = performance.now();
    await until(holds, 50);
    return performance.now() - began;
  };

  it('to the billing config hold on the other within a second', async () => {
    const freePages = async () => {
      const { body } = await other!.call('get', '/v1/admin/billing-config');
      return (body['active'] as Record<string, unknown>)['free_pages'];
    };
    expect(await freePages()).to.equal(50);
    const made = await one!.call('post', '/v1/admin/billing-config', { json: { free_pages: 7 } });
    expect(made.status, made.text).to.equal(201);
    expect(await msUntil(async () => (await freePages()) === 7)).to.be.lessThan(REFERENCE_MS + SLACK_MS);
  });

  it('to the price list hold on the other within a second', async () => {
    const version = async (api: Client) =>
      Number((await api.call('get', '/v1/admin/credit-prices')).body['version']);
    const before = await version(other!);
    const entries = [{ currency: 'USD', price_per_1000_credits: '1.00' }];
    await one!.call('post', '/v1/admin/credit-prices', { json: { entries } });
    const tookMs = await msUntil(async () => (await version(other!)) === before + 1);
    expect(tookMs).to.be.lessThan(REFERENCE_MS + SLACK_MS);
  });

  it('to a saved config hold on the other at once, and so does its revocation', async () => {
    const key = await one!.newKey(TENANT);
    const schema = JSON.parse(INVOICE_SCHEMA) as object;
    const publish = (json: object) =>
      one!.call('post', '/v1/configs', { json: { tenant_id: TENANT, schema, ...json } });
    const config_id = String((await publish({ mode: 'fast' })).body['config_id']);
    await msUntil(
      async () => (await other!.call('get', `/v1/billing/balance/${TENANT}`, { key })).status === 200,
    );
    const extract = () => other!.call('post', '/v1/extract', { key, form: formOf({ config_id }, INVOICE) });
    expect((await extract()).body['meta']).to.include({ config_version: 1, mode: 'fast' });
    await publish({ config_id, mode: 'robust' });
    expect((await extract()).body['meta']).to.include({ config_version: 2, mode: 'robust' });
    await one!.call('delete', `/v1/configs/${config_id}`);
    expect((await extract()).code).to.equal('config_not_found');
  });

  describe('hold within 60 s where a replica remembers what it looked up', () => {
    let nowMs = Date.now();
    let keys: Authenticator;
    let limits: TenantLimits;
    /** What a replica asks, with a clock that the spec steps. */
    before(() => {
      const queries = queriesOn(sql);
      const clock = { nowMs: () => nowMs };
      const adminKey = undefined;
      keys = authenticator({
        lookup: queries.apiKeyByHash,
        isWellFormed: isWellFormedKey,
        adminKey,
        ...clock,
        monotonicMs: clock.nowMs,
      });
      const onError = (error: unknown): void => expect.fail(String(error));
      limits = tenantLimits({ lookup: queries.rateLimitsOfTenant, onError, ...clock });
    });

    const opens = (key: string): Promise<boolean> =>
      keys.authenticate(key).then(
        () => true,
        () => false,
      );

    it('a revoked key is refused', async () => {
      const made = await one!.call('post', '/v1/api-keys', { json: { tenant_id: TENANT } });
      const key = String(made.body['key']);
      await msUntil(async () => {
        nowMs += 1_000;
        return opens(key);
      });
      const { status } = await one!.call('delete', `/v1/api-keys/${String(made.body['key_id'])}`);
      expect(status).to.equal(204);
      const revoked = async () =>
        (await queriesOn(sql).apiKeyByHash(await hashOf(made.body['key_id'])))?.revoked_at !== null;
      await msUntil(revoked);
      nowMs += CACHED_MS;
      expect(await opens(key)).to.equal(false);
    });

    it('a rate limit counts', async () => {
      expect((await limits.bucketsOf(TENANT)).general.burst).to.equal(200);
      const general = { rate_per_second: 3, burst: 9 };
      const set = await one!.call('put', `/v1/admin/tenants/${TENANT}/rate-limits`, { json: { general } });
      expect(set.status, set.text).to.equal(200);
      await msUntil(async () => (await queriesOn(sql).rateLimitsOfTenant(TENANT)) !== null);
      nowMs += CACHED_MS;
      expect((await limits.bucketsOf(TENANT)).general.burst).to.equal(9);
    });
  });

  const hashOf = async (keyId: unknown): Promise<string> => {
    const rows = await sql.query('select key_hash from read.api_keys where key_id = $1', [String(keyId)]);
    return String(rows[0]?.['key_hash']);
  };
});
