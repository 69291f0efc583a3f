import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { secretObjectKey } from '../../../domain/ports/services.ts';
import { reportAudit, reportDrift } from '../../../src/commands/audits.ts';
import { issuesIn } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { dataOf, startReceiver, status, type Receiver } from './receiver.ts';
import { toldTenant, WEBHOOK_ENV } from './toldTenant.ts';

const PUBLIC_URL = 'https://hooks.example.com/quire';

describe('who may have webhooks, and where', () => {
  let api: TestApi;
  let receiver: Receiver;
  before(async () => {
    api = await startApi(WEBHOOK_ENV);
    receiver = await startReceiver();
  });
  after(async () => {
    await api.stop();
    await receiver.stop();
  });

  const create = (json: object, key?: string) =>
    api.call('post', '/v1/webhooks', { json, ...(key !== undefined && { key }) });
  const idOf = ({ body }: { readonly body: Readonly<Record<string, unknown>> }) => String(body['webhook_id']);

  it('tenants have their own, and admin and service keys those of any', async () => {
    const { tenant_id, webhook_id } = await toldTenant(api, receiver.url);
    const stranger = await api.newKey(`wh-${randomUUID()}`);
    const service = await api.newKey(`wh-${randomUUID()}`, 'service');
    const settings = { url: receiver.url, events: ['*'] };
    const path = `/v1/webhooks/${webhook_id}`;
    const calls: readonly (readonly [string, string, object?])[] = [
      ['get', path],
      ['get', `${path}/deliveries`],
      ['post', `${path}/deliveries/msg_none/resend`],
      ['post', `${path}/rotate-secret`, {}],
      ['post', `${path}/test`],
      ['put', path, settings],
      ['delete', path],
    ];
    for (const [method, at, json] of calls) {
      const reply = await api.call(method, at, { key: stranger, ...(json !== undefined && { json }) });
      expect([reply.status, reply.code], `${method} ${at}`).to.deep.equal([404, 'webhook_not_found']);
    }
    const foreign = await api.call('get', `/v1/webhooks?tenant_id=${tenant_id}`, { key: stranger });
    expect(foreign.code).to.equal('tenant_mismatch');
    expect((await create({ tenant_id, ...settings }, stranger)).code).to.equal('tenant_mismatch');
    expect((await create({ tenant_id, ...settings }, service)).status).to.equal(201);
    const listed = await api.call('get', `/v1/webhooks?tenant_id=${tenant_id}`, { key: service });
    expect(listed.body).to.have.property('total', 2);
    expect((await api.call('delete', path, { key: service })).status).to.equal(204);
    expect((await api.call('get', path)).code).to.equal('webhook_not_found');
  });

  it('no secret is shown again, and none is left when a webhook is removed', async () => {
    const { webhook_id, secret, call } = await toldTenant(api, receiver.url);
    const { webhook } = { webhook: await api.deps.webhooks.find(webhook_id) };
    const at = secretObjectKey(webhook!.secret_id);
    const stored = Buffer.from((await api.objects.get(at))!).toString('latin1');
    expect(stored).not.to.include(secret.slice('whsec_'.length));
    expect((await call('get')).text).not.to.include('whsec_');
    await call('delete');
    expect(await api.objects.get(at)).to.equal(undefined);
  });

  it('operators alone are told what the service finds wrong with itself, once', async () => {
    const tenant_id = `wh-${randomUUID()}`;
    const key = await api.newKey(tenant_id);
    const wanted = { tenant_id, url: receiver.url, events: ['reconciliation.drift', 'audit.finding'] };
    expect((await create(wanted, key)).code).to.equal('admin_required');
    const made = await create(wanted);
    expect(made.status, made.text).to.equal(201);
    const everything = await toldTenant(api, receiver.url);
    const deps = { store: api.log, clock: api.deps.clock };
    const drifting = [{ tenant_id: 'somebody', drift_credits: -3 }];
    for (const found of [drifting, drifting, [], drifting])
      await reportDrift(deps)({ tenants_checked: 7, drifting: found });
    const { position } = (await reportAudit(deps)({ findings: 2, checks: ['chain'] })) as {
      position: bigint;
    };
    api.deps.reads.note(tenant_id, position);
    await everything.sent();
    expect(
      receiver.received.map((message) => [message.payload['type'], dataOf(message)]),
    ).to.have.deep.members([
      ['reconciliation.drift', { tenants_checked: 7, tenants_drifting: 1, drifting }],
      ['reconciliation.drift', { tenants_checked: 7, tenants_drifting: 1, drifting }],
      ['audit.finding', { findings: 2, checks: ['chain'] }],
    ]);
    expect(receiver.received.every(({ payload }) => payload['tenant_id'] === null)).to.equal(true);
    await api.call('delete', `/v1/webhooks/${idOf(made)}`);
  });

  it('a tenant has 20 at most', async () => {
    const tenant_id = `wh-${randomUUID()}`;
    const key = await api.newKey(tenant_id);
    for (let n = 0; n < 20; n += 1)
      expect((await create({ tenant_id, url: PUBLIC_URL, events: ['*'] }, key)).status).to.equal(201);
    expect((await create({ tenant_id, url: PUBLIC_URL, events: ['*'] }, key)).code).to.equal(
      'too_many_webhooks',
    );
  });

  it('a tenant has 20 at most, also when it asks for more of them at once', async () => {
    const tenant_id = `wh-${randomUUID()}`;
    const key = await api.newKey(tenant_id);
    const wanted = { tenant_id, url: PUBLIC_URL, events: ['*'] };
    const replies = await Promise.all(Array.from({ length: 48 }, () => create(wanted, key)));
    const made = replies.filter((reply) => reply.status === 201);
    expect(made).to.have.lengthOf(20);
    const listed = await api.call('get', `/v1/webhooks?tenant_id=${tenant_id}`, { key });
    expect(listed.body).to.have.property('total', 20);
    await api.call('delete', `/v1/webhooks/${idOf(made[0]!)}`, { key });
    expect((await create(wanted, key)).status, 'the place of a removed one is free').to.equal(201);
    expect((await create(wanted, key)).code).to.equal('too_many_webhooks');
  });

  it('an address has no control characters, which a parser would pass over', async () => {
    const tenant_id = `wh-${randomUUID()}`;
    const hidden = ['\r\n', '\n', '\t', '\u0001', '\u007f', '\u0085', '\u2028'];
    const { call } = await toldTenant(api, receiver.url);
    for (const text of hidden) {
      const url = `https://hooks.example.com/${text}quire`;
      for (const reply of [
        await create({ tenant_id, url, events: ['*'] }),
        await call('put', '', { url, events: ['*'] }),
      ]) {
        expect([reply.status, reply.code], JSON.stringify(text)).to.deep.equal([422, 'validation_error']);
        expect(issuesIn(reply).join()).to.include('url');
      }
    }
  });

  it('what is wrong with a request is said', async () => {
    const tenant_id = `wh-${randomUUID()}`;
    const wrong: readonly (readonly [object, string])[] = [
      [{ events: [] }, 'events'],
      [{ events: ['nothing.known'] }, 'events.0'],
      [{ low_balance_credits: -1 }, 'low_balance_credits'],
      [{ low_balance_at: [] }, 'low_balance_at'],
      [{ low_balance_at: [5, 5] }, 'low_balance_at'],
      [{ low_balance_at: [5], low_balance_credits: 5 }, 'low_balance_at'],
      [{ description: 'x'.repeat(501) }, 'description'],
      [{ url: 'x'.repeat(2049) }, 'url'],
      [{ secret: 'whsec_mine' }, 'secret'],
    ];
    for (const [members, at] of wrong) {
      const reply = await create({ tenant_id, url: PUBLIC_URL, events: ['*'], ...members });
      expect(reply.status, at).to.equal(422);
      expect(issuesIn(reply).join(), at).to.include(at.split('.')[0]!);
    }
    const { call } = await toldTenant(api, receiver.url);
    expect((await call('post', '/rotate-secret', { keep_old_seconds: 604_801 })).status).to.equal(422);
    expect((await call('get', '/deliveries?status=lost')).status).to.equal(422);
  });
});

describe('webhooks of a service that allows no private network', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({ FIELD_ENCRYPTION_KEY: WEBHOOK_ENV.FIELD_ENCRYPTION_KEY });
  });
  after(() => api.stop());

  for (const url of [
    'http://hooks.example.com/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://168.63.129.16/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[fd00::1]/',
    'https://user:password@hooks.example.com/',
    'https://hooks.example.com/#part',
    'ftp://hooks.example.com/',
    'not a URL',
  ])
    it(`are not at ${url}`, async () => {
      const json = { tenant_id: `wh-${randomUUID()}`, url, events: ['*'] };
      expect((await api.call('post', '/v1/webhooks', { json })).code).to.equal('unsafe_webhook_url');
    });

  it('are not sent to a name that stands for an address of it', async () => {
    const receiver = await startReceiver();
    receiver.answerWith(status(200));
    const { port } = new URL(receiver.url);
    const tenant = await toldTenant(api, `https://localhost:${port}/`);
    await tenant.adjust(1);
    await tenant.sent();
    expect(await tenant.deliveries()).to.have.nested.property('[0].error', 'unsafe_address');
    expect(receiver.received).to.have.lengthOf(0);
    await receiver.stop();
  });
});

describe('webhooks of a service that was given no key to encrypt with', () => {
  it('are kept under the key of its data folder', async () => {
    const api = await startApi();
    const json = { tenant_id: 'acme', url: PUBLIC_URL, events: ['*'] };
    const reply = await api.call('post', '/v1/webhooks', { json });
    expect(reply.status, reply.text).to.equal(201);
    await api.stop();
  });
});
