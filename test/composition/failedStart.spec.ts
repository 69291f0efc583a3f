import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECTOR_LEASE } from '../../projections/engine/lease.ts';
import { openParts } from '../../src/parts/parts.ts';
import { startQuire } from '../../src/service/quire.ts';
import { configFrom } from '../../src/config.ts';
import { ADMIN_KEY } from '../support/serviceProcess.ts';

describe('a start that fails', () => {
  it('ends the projections before the parts that they use', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quire-failed-'));
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const PORT = String((taken.address() as AddressInfo).port);
    const env = { PORT, ADMIN_API_KEY: ADMIN_KEY, LOG_LEVEL: 'silent', DATA_DIR: folder };
    let wasFree: boolean | undefined;
    const started = startQuire(configFrom(env), async (config, on) => {
      const parts = await openParts(config, on);
      const close = async () => {
        wasFree = (await parts.sql.tryLock(PROJECTOR_LEASE)) !== undefined;
        await parts.close();
      };
      return { ...parts, close };
    });
    const failure: unknown = await started.catch((error: unknown) => error);
    expect(String(failure)).to.contain(`PORT: ${PORT} on 127.0.0.1 is in use`);
    expect(wasFree, 'the projector lock').to.equal(true);
    taken.close();
    await rm(folder, { recursive: true, force: true });
  });
});
