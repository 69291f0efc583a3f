import { expect } from 'chai';
import { postgresSql } from '../../adapters/postgres.ts';
import { generations } from '../../projections/engine/registry.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { prepareTables } from '../../src/parts/tables.ts';
import { startEsdbDouble, type EsdbDouble } from '../support/esdbDouble/esdbDouble.ts';
import { startService, type ServiceProcess } from '../support/serviceProcess.ts';
import { tempDatabase, type TempDatabase } from '../support/tempDatabase.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';

const server = process.env['DATABASE_URL'];
const AT_ONCE = 6;
const ROUNDS = 4;

describe('starts side by side on PostgreSQL', () => {
  if (server === undefined) {
    it('run when DATABASE_URL names a server');
    return;
  }

  let database: TempDatabase;
  beforeEach(async () => {
    database = await tempDatabase(server);
  });
  afterEach(() => database.drop());

  const prepareAs = async (url: string): Promise<void> => {
    const sql = postgresSql({ url });
    try {
      await prepareTables({ databaseUrl: url }, sql);
    } finally {
      await sql.close();
    }
  };

  for (let round = 1; round <= ROUNDS; round += 1) {
    it(`make each table once, round ${String(round)}`, async () => {
      await Promise.all(Array.from({ length: AT_ONCE }, () => prepareAs(database.url)));
      await prepareAs(database.url);
      const sql = postgresSql({ url: database.url });
      const all = await generations(sql);
      await sql.close();
      expect(all.map(({ name }) => name)).to.have.members(READ_MODELS.map(({ name }) => name));
      expect(all.every(({ generation, serves }) => generation === 1 && serves)).to.equal(true);
    });
  }

  it('need no right to create where nothing is missing', async () => {
    const role = `reader_${String(process.pid)}`;
    const asRole = new URL(database.url);
    [asRole.username, asRole.password] = [role, 'of-no-use'];
    await database.run(`create role ${role} login password 'of-no-use'`);
    try {
      await database.run('revoke create on schema public from public');
      let failure: unknown;
      await prepareAs(asRole.href).catch((error: unknown) => (failure = error));
      expect(String(failure), 'nothing is there yet').to.contain('permission denied');
      await prepareAs(database.url);
      await database.run(`grant usage on schema projections, http_cache, read to ${role};
        grant select on projections.registry to ${role}`);
      await prepareAs(asRole.href);
    } finally {
      await database.run(`drop owned by ${role}; drop role ${role}`);
    }
  });

  describe('of whole services', () => {
    let log: EsdbDouble;
    let services: ServiceProcess[] = [];
    const folder = tempFolder();
    before(async () => {
      log = await startEsdbDouble();
    });
    afterEach(async () => {
      await Promise.all(services.map((one) => one.stop('SIGKILL')));
      services = [];
    });
    after(async () => {
      await log.close();
      folder.remove();
    });

    it('print one first admin key, and it opens every one of them', async () => {
      const env = { EVENTSTORE_URL: log.connectionString, DATABASE_URL: database.url, ADMIN_API_KEY: '' };
      services = await Promise.all([1, 2, 3, 4].map((n) => startService(`${folder.path}/${String(n)}`, env)));
      const keys = services.flatMap(({ output }) => /admin key\s+(\S+)/.exec(output())?.[1] ?? []);
      expect(keys).to.have.length(1);
      for (const { url } of services) {
        const answer = await fetch(`${url}/v1/admin/tenants`, { headers: { 'X-API-KEY': keys[0] ?? '' } });
        expect(answer.status).to.equal(200);
      }
    });
  });
});
