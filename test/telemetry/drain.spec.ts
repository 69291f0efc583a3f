import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { prepareDataDir } from '../support/preparedData.ts';
import { startQuire } from '../../src/service/quire.ts';
import { ConfigError, configFrom } from '../../src/config.ts';
import { ADMIN_KEY } from '../support/serviceProcess.ts';
import { runningRequests } from '../../src/server/metrics.ts';

const started = async (env: Readonly<Record<string, string>>) => {
  const folder = await mkdtemp(join(tmpdir(), 'quire-drained-'));
  await prepareDataDir(folder);
  const remove = () => rm(folder, { recursive: true, force: true });
  const common = { DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'silent' };
  const quire = await startQuire(configFrom({ ...common, ...env })).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  return { quire, remove };
};

const statusOf = async (url: string): Promise<number> => {
  const answer = await fetch(url, { headers: { connection: 'close' } });
  await answer.arrayBuffer();
  return answer.status;
};

describe('a service that shuts down', () => {
  it('lives, is not ready and refuses new work while what had begun goes on', async () => {
    const { quire, remove } = await started({ ROLES: 'api,projector', ADMIN_API_KEY: ADMIN_KEY });
    const { port, host } = new URL(quire.url);
    const slow = connect(Number(port), '127.0.0.1');
    await once(slow, 'connect');
    // Half of a body: the request has begun and waits for the rest.
    slow.write(
      `POST /v1/canonical HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${ADMIN_KEY}` +
        '\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{',
    );
    expect(await statusOf(`${quire.url}/health/ready`)).to.equal(200);
    let stopped = false;
    const stopping = quire.stop().then(() => (stopped = true));
    expect(await statusOf(`${quire.url}/health/live`)).to.equal(200);
    expect(await statusOf(`${quire.url}/health/ready`)).to.equal(503);
    expect(await statusOf(`${quire.url}/v1/billing/rates`)).to.equal(503);
    slow.destroy();
    await stopping;
    expect(stopped).to.equal(true);
    await remove();
  });

  it('waits for those requests alone that began before', async () => {
    let draining = false;
    const running = runningRequests(() => draining);
    await running.ended();
    const ends = [running.begin(), running.begin()];
    draining = true;
    const late = running.begin();
    let ended = false;
    const waiting = running.ended().then(() => (ended = true));
    ends[0]!();
    late();
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).to.equal(false);
    ends[1]!();
    await waiting;
    expect(ended).to.equal(true);
  });

  it('says which port is taken, and by which variable to choose another', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const failure = await started({ PORT: String(port), ROLES: 'worker' }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(ConfigError);
    expect((failure as Error).message)
      .to.contain('PORT')
      .and.to.contain(String(port));
    other.close();
  });
});
