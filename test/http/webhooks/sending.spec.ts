import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { systemTimers } from '../../../adapters/local/local.ts';
import { decodeAny } from '../../../domain/catalogue.ts';
import { rebuildReadModels } from '../../../projections/engine/rebuild.ts';
import { webhooksProjector } from '../../../projections/webhooks.ts';
import { until } from '../../../engine/test/support/until.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { dataOf, hanging, startReceiver, status, type Receiver } from './receiver.ts';
import { toldTenant, WEBHOOK_ENV } from './toldTenant.ts';

const HOUR_MS = 3_600_000;

describe('messages to webhooks', () => {
  let api: TestApi;
  let receiver: Receiver;
  before(async () => {
    api = await startApi(WEBHOOK_ENV);
  });
  after(() => api.stop());
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.stop());

  const credits = () => receiver.received.map((message) => dataOf(message)['credits']);

  it('are not sent again when the read models are built anew', async () => {
    const { adjust, sent, deliveries } = await toldTenant(api, receiver.url);
    for (const amount of [1, 2, 3]) await adjust(amount);
    await sent();
    const before = await deliveries();
    const deps = { sql: api.sql, feed: api.log, projectors: [webhooksProjector], decode: decodeAny };
    const rebuilt = await rebuildReadModels({ ...deps, timers: systemTimers }, { names: ['webhooks'] });
    expect(rebuilt).to.have.lengthOf(1);
    expect(rebuilt[0]!.differences).to.deep.equal([]);
    await adjust(4);
    await until(async () => {
      await sent();
      return receiver.received.length >= 4;
    });
    await sent();
    expect(credits()).to.deep.equal([1, 2, 3, 4]);
    expect((await deliveries()).slice(1)).to.deep.equal(before);
  });

  it('are not sent again while the rows are behind: the log decides', async () => {
    const { adjust, sent, webhook_id } = await toldTenant(api, receiver.url);
    await adjust(1);
    expect(await sent()).to.equal(1);
    const [row] = await api.sql.query(
      `select schema_name from projections.registry where name = 'webhooks' and serves`,
    );
    await api.sql.query(
      `update ${String(row?.['schema_name'])}.webhook_deliveries set delivered = false where webhook_id = $1`,
      [webhook_id],
    );
    expect(await sent()).to.equal(0);
    expect(receiver.received).to.have.lengthOf(1);
  });

  it('keep the order of what they are about, and a failing one holds back nothing else', async () => {
    const { adjust, sent, tenant_id } = await toldTenant(api, receiver.url);
    receiver.answerWith((message, response) =>
      response.writeHead(dataOf(message)['credits'] === 1 ? 500 : 200).end(),
    );
    for (const amount of [1, 2, 3]) await adjust(amount);
    await api.newKey(tenant_id);
    await sent();
    expect(receiver.received.map(({ payload }) => payload['type'])).to.have.members([
      'credits.adjusted',
      'key.created',
    ]);
    receiver.answerWith(status(200));
    api.wait(6_000);
    await sent();
    expect(credits().filter((amount) => amount !== undefined)).to.deep.equal([1, 1, 2, 3]);
  });

  it('to a receiver that never answers delay no other', async () => {
    const slow = await startReceiver();
    slow.answerWith(hanging);
    const stuck = await toldTenant(api, slow.url);
    const quick = await toldTenant(api, receiver.url);
    await stuck.adjust(1);
    await quick.adjust(2);
    await api.deps.reads.settleAll();
    const draining = api.webhooks.drain();
    await until(() => slow.received.length === 1 && receiver.received.length === 1);
    await slow.stop();
    await draining;
    expect(await stuck.deliveries()).to.have.nested.property('[0].error', 'connection');
  });

  it('carry a signature of each secret while the receiver changes over', async () => {
    const { adjust, sent, call, secret: old } = await toldTenant(api, receiver.url);
    const rotated = await call('post', '/rotate-secret', { keep_old_seconds: 60 });
    expect(rotated.status, rotated.text).to.equal(200);
    const secret = String(rotated.body['secret']);
    await adjust(1);
    await sent();
    const [both] = receiver.received;
    for (const each of [old, secret])
      expect(new Webhook(each).verify(both!.body, both!.headers)).to.be.an('object');
    api.wait(61_000);
    await adjust(2);
    await sent();
    const signatures = receiver.received.map(
      ({ headers }) => headers['webhook-signature']!.split(' ').length,
    );
    expect(signatures).to.deep.equal([2, 1]);
    const { body, headers } = receiver.received[1]!;
    const now = { ...headers, 'webhook-timestamp': headers['webhook-timestamp']! };
    expect(() => new Webhook(old).verify(body, now)).to.throw();
  });

  it('are given up after three days, and the webhook is disabled until somebody enables it', async () => {
    const { adjust, sent, call, deliveries } = await toldTenant(api, receiver.url);
    receiver.answerWith(status(503));
    await adjust(1);
    await sent();
    let attempts = 1;
    for (let hours = 0; hours < 75; hours += 1) {
      api.wait(HOUR_MS);
      attempts += await sent();
      if ((await call('get')).body['enabled'] === false) break;
      if (hours === 70) await adjust(2);
    }
    expect(attempts).to.be.within(8, 20);
    expect((await call('get')).body).to.deep.include({ enabled: false, disabled_reason: 'failing' });
    expect(await deliveries('?status=failed')).to.have.lengthOf(1);
    await adjust(3);
    receiver.answerWith(status(200));
    const settings = { url: receiver.url, events: ['credits.adjusted'], enabled: true };
    const enabled = await call('put', '', settings);
    expect(enabled.body).to.deep.include({ enabled: true, disabled_reason: null, failing_since: null });
    await adjust(4);
    api.wait(24 * HOUR_MS);
    await sent();
    expect(credits().slice(-2), 'of the time when it was disabled nothing is told').to.deep.equal([2, 4]);
  });

  it('end when the receiver says that it is gone', async () => {
    const { adjust, sent, call } = await toldTenant(api, receiver.url);
    receiver.answerWith(status(410));
    await adjust(1);
    await sent();
    expect((await call('get')).body).to.deep.include({ enabled: false, disabled_reason: 'gone' });
  });

  it('wait no more when the receiver is gone, and are sent when somebody enables it in time', async () => {
    const { adjust, sent, call, deliveries } = await toldTenant(api, receiver.url);
    receiver.answerWith(status(410));
    for (const amount of [1, 2]) await adjust(amount);
    await sent();
    const rows = await deliveries();
    expect(rows.map((row) => row['status'])).to.deep.equal(['failed', 'failed']);
    expect(rows.map((row) => row['next_attempt_at'])).to.deep.equal([null, null]);
    receiver.answerWith(status(200));
    await call('put', '', { url: receiver.url, events: ['*'], enabled: true });
    api.wait(6_000);
    await sent();
    expect((await deliveries()).map((row) => row['status'])).to.deep.equal(['delivered', 'delivered']);
  });

  it('that are on their way when the URL is changed say nothing about the new one', async () => {
    const { adjust, sent, call } = await toldTenant(api, receiver.url);
    const [moved, elsewhere] = ['/moved', '/elsewhere'].map((path) => new URL(path, receiver.url).href);
    receiver.answerWith((message, response) => {
      if (message.path !== '/quire') response.writeHead(200).end();
      else
        void call('put', '', { url: moved, events: ['*'], enabled: true }).then(() =>
          response.writeHead(410).end(),
        );
    });
    await adjust(1);
    await sent();
    expect((await call('get')).body).to.deep.include({ url: moved, enabled: true, disabled_reason: null });
    expect((await call('get')).body['failing_since']).to.be.a('string');
    const settings = { url: elsewhere, events: ['*'], enabled: true };
    expect((await call('put', '', settings)).body).to.deep.include({ failing_since: null });
    api.wait(6_000);
    expect(await sent()).to.equal(1);
  });

  it('wait as long as a receiver asks them to', async () => {
    const { adjust, sent } = await toldTenant(api, receiver.url);
    receiver.answerWith(status(429, { 'retry-after': '600' }));
    await adjust(1);
    await sent();
    api.wait(590_000);
    expect(await sent()).to.equal(0);
    api.wait(20_000);
    expect(await sent()).to.equal(1);
  });

  it('are sent again on request, under the same ID', async () => {
    const { adjust, sent, call, deliveries } = await toldTenant(api, receiver.url);
    await adjust(1);
    await adjust(2);
    await sent();
    const first = (await deliveries()).at(-1)!;
    const resend = `/deliveries/${String(first['delivery_id'])}/resend`;
    const again = await call('post', resend);
    expect(again.status, again.text).to.equal(202);
    expect(again.body).to.deep.include({ status: 'pending', attempts: 1 });
    await call('post', resend);
    expect(await sent(), 'asked for twice, sent once').to.equal(1);
    expect(credits()).to.deep.equal([1, 2, 1]);
    expect(receiver.received[2]!.id).to.equal(receiver.received[0]!.id);
    expect((await call('post', '/deliveries/msg_unknown/resend')).code).to.equal('delivery_not_found');
  });

  it('do not follow redirects, and read little of what is answered', async () => {
    const elsewhere = await startReceiver();
    const { adjust, sent, deliveries } = await toldTenant(api, receiver.url);
    receiver.answerWith(status(307, { location: elsewhere.url }));
    await adjust(1);
    await sent();
    expect(await deliveries()).to.have.nested.property('[0].error', 'redirect');
    expect(elsewhere.received).to.have.lengthOf(0);
    receiver.answerWith((_message, response) => {
      response.writeHead(200);
      const endless = (): void => {
        if (response.write('x'.repeat(65_536))) setImmediate(endless);
        else response.once('drain', endless);
      };
      endless();
    });
    api.wait(6_000);
    expect(await sent()).to.equal(1);
    expect(await deliveries('?status=delivered')).to.have.lengthOf(1);
    await elsewhere.stop();
  });
});
