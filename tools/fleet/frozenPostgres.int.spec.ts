import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from 'pg';
import { until } from '../../engine/test/support/until.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { postgresServer } from '../../test/support/fleet/servers.ts';

type Server = Awaited<ReturnType<typeof postgresServer>>;

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

describe('PostgreSQL of a fleet', () => {
  const folder = tempFolder();
  let server: Server;

  const answer = async (): Promise<unknown> => {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    const { rows } = await client.query<{ one: number }>('select 1 as one');
    await client.end();
    return rows[0]?.one;
  };
  const postmaster = async (): Promise<number> =>
    Number((await readFile(join(folder.path, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);

  before(async () => {
    await chmod(folder.path, 0o755);
    server = await postgresServer(folder.path);
  });
  after(async () => {
    await server.kill();
    folder.remove();
  });

  it('says nothing while it is frozen, and goes on where it was', async () => {
    await server.freeze();
    const asked = answer();
    const state = await readFile(`/proc/${await postmaster()}/stat`, 'utf8');
    expect(state.split(' ')[2], 'stopped').to.equal('T');
    await server.thaw();
    expect(await asked).to.equal(1);
  });

  it('is frozen and thawed without a failure where its processes are gone', async () => {
    const pid = await postmaster();
    process.kill(pid, 'SIGKILL');
    await until(() => isGone(pid));
    await server.freeze();
    await server.thaw();
  });
});
