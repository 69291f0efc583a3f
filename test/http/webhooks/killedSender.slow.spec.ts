import { expect } from 'chai';
import { tempFolder, type TempFolder } from '../../../engine/test/support/tempFolder.ts';
import { until } from '../../../engine/test/support/until.ts';
import { client, type Client } from '../support/client.ts';
import { startService, type ServiceProcess } from '../../support/serviceProcess.ts';
import { dataOf, hanging, startReceiver, status, type Receiver } from './receiver.ts';
import { WEBHOOK_ENV } from './toldTenant.ts';

const MESSAGES = 30;
const KILLS = 4;

/**
 * A service that is killed again and again while it sends, to a receiver that is down, fails, is slow and hangs by
 * turns. In the end each message has arrived, repeats have the ID of the first, and the order of first arrivals is
 * that of the events.
 */
describe('a sender that is killed', function () {
  this.timeout(480_000);
  let folder: TempFolder;
  let service: ServiceProcess;
  let api: Client;
  let receiver: Receiver;

  before(async () => {
    folder = tempFolder();
    receiver = await startReceiver();
    await start();
  });
  after(async () => {
    await service.stop('SIGTERM');
    await receiver.stop();
    folder.remove();
  });

  const start = async (): Promise<void> => {
    service = await startService(folder.path, WEBHOOK_ENV);
    api = client(service.url);
  };
  const adjust = async (tenant: string, credits: number): Promise<void> => {
    const json = { credits, reason: 'spec' };
    const reply = await api.call('post', `/v1/admin/tenants/${tenant}/adjust-credits`, { json });
    expect(reply.status, reply.text).to.equal(200);
  };

  it('loses nothing, keeps the order, and repeats under the same ID only', async () => {
    const tenants = ['first', 'second', 'third'];
    for (const tenant_id of tenants) {
      await api.newKey(tenant_id);
      const json = { tenant_id, url: `${receiver.url}/${tenant_id}`, events: ['credits.adjusted'] };
      expect((await api.call('post', '/v1/webhooks', { json })).status).to.equal(201);
    }
    let taken = 0;
    const answers = [status(204), status(500), hanging];
    receiver.answerWith((message, response) => {
      taken += 1;
      // One in seven fails; of another the sender dies before it can write down that it was taken.
      const answer = answers[[3, 5].indexOf(taken % 7) + 1];
      answer?.(message, response);
    });
    for (let kill = 0; kill < KILLS; kill += 1) {
      for (let n = 0; n < MESSAGES / KILLS; n += 1)
        for (const tenant of tenants) await adjust(tenant, 1 + kill * 100 + n);
      const before = receiver.received.length;
      await until(() => receiver.received.length > before);
      await service.stop('SIGKILL');
      await start();
    }
    receiver.answerWith(status(204));
    const pending = async (): Promise<number> => {
      let waiting = 0;
      for (const tenant_id of tenants) {
        const { body } = await api.call('get', `/v1/webhooks?tenant_id=${tenant_id}`);
        const [{ webhook_id } = { webhook_id: '' }] = body['items'] as { webhook_id: string }[];
        const list = await api.call('get', `/v1/webhooks/${webhook_id}/deliveries?status=pending&limit=1`);
        waiting += Number(list.body['total']);
      }
      return waiting;
    };
    // A message that failed again and again is sent anew after minutes.
    await until(async () => (await pending()) === 0, 500, 300_000);
    const total = Math.ceil(MESSAGES / KILLS) * KILLS;
    for (const tenant of tenants) {
      const arrived = receiver.received.filter(({ path }) => path.endsWith(tenant));
      const amounts = new Map(arrived.map((message) => [message.id, dataOf(message)['credits'] as number]));
      const inOrder = [...amounts.values()];
      expect(inOrder).to.have.lengthOf(total);
      expect(inOrder).to.deep.equal([...inOrder].sort((a, b) => a - b));
      expect(new Set(inOrder).size).to.equal(total);
    }
  });
});
