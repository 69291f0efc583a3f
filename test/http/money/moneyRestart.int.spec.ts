import { expect } from 'chai';
import { startService, type ServiceProcess } from '../../support/serviceProcess.ts';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';
import { client, type Client } from '../support/client.ts';
import { MONEY_ENDPOINTS, moneyCase } from '../support/moneyEndpoints.ts';

describe('money requests and a service that starts again', () => {
  const folder = tempFolder();
  let service: ServiceProcess;
  const start = async (): Promise<Client> => {
    service = await startService(folder.path);
    return client(service.url);
  };
  after(async () => {
    await service.stop('SIGKILL');
    folder.remove();
  });

  for (const signal of ['SIGTERM', 'SIGKILL'] as const)
    it(`take effect once across ${signal}, with their key and without`, async () => {
      const before = await start();
      const made = [];
      for (const endpoint of MONEY_ENDPOINTS) {
        const one = await moneyCase(before, endpoint);
        const first = await one.send();
        expect(first.body[endpoint.flag], first.text).to.equal(true);
        made.push({ endpoint, one, first });
      }
      await service.stop(signal);

      const after = await start();
      for (const { endpoint, one, first } of made) {
        const call = (headers: Readonly<Record<string, string>>, change: object = {}) =>
          after.call('post', endpoint.path(one.tenant), { json: { ...one.json, ...change }, headers });
        const header: Record<string, string> = endpoint.takesHeader ? { 'idempotency-key': one.key } : {};
        const again = await call(header);
        expect(again.status, again.text).to.equal(200);
        expect(again.body[endpoint.id]).to.equal(first.body[endpoint.id]);
        if (again.headers.get('idempotent-replayed') === null)
          expect(again.body[endpoint.flag]).to.equal(false);
        else expect(again.text).to.equal(first.text);
        if (endpoint.ownIdentity)
          expect((await call({})).body).to.deep.equal({ ...first.body, [endpoint.flag]: false });
        expect((await call(header, endpoint.changes[0])).code).to.equal('idempotency_key_reused');
        const balance = await after.call('get', `/v1/billing/balance/${one.tenant}`);
        expect(balance.body['balance_credits']).to.equal(first.body['balance_credits']);
      }
      await service.stop('SIGTERM');
    });
});
