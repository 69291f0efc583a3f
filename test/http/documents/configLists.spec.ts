import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { testApi, type TestApi } from '../support/testApi.ts';

interface Config {
  readonly config_id: string;
  readonly version: number;
}

/** Its members are in no order that a database would give them. */
const SCHEMA = {
  type: 'object',
  required: ['total'],
  properties: {
    zulu: { type: 'string' },
    a: { type: 'number', description: 'A "quoted" \\ é' },
    total: {},
  },
};

describe('the list of saved configs', () => {
  let api: TestApi;
  let tenant_id: string;
  before(async () => {
    api = await testApi();
  });
  beforeEach(() => {
    tenant_id = `configs-${randomUUID()}`;
  });

  const publish = async (over: object = {}): Promise<Config> => {
    const reply = await api.call('post', '/v1/configs', { json: { tenant_id, schema: SCHEMA, ...over } });
    expect(reply.status, reply.text).to.equal(200);
    return reply.body as unknown as Config;
  };
  const listed = async (query = '', key?: string) => {
    const reply = await api.call('get', `/v1/configs?tenant_id=${tenant_id}${query}`, {
      ...(key && { key }),
    });
    expect(reply.status, reply.text).to.equal(200);
    return { text: reply.text, total: reply.body['total'], items: reply.body['items'] as readonly Config[] };
  };
  const namesOf = (items: readonly Config[]) =>
    items.map(({ config_id, version }) => `${config_id} ${version}`);

  it('has the latest version of each, to the byte as the log has it, last published first', async () => {
    const [first, second] = [await publish({ name: 'first', min_confidence: 0.5 }), await publish()];
    const again = await publish({ config_id: first.config_id, mode: 'balanced', llm: { temperature: 0.25 } });
    const { items, text, total } = await listed();
    expect([namesOf(items), total]).to.deep.equal([namesOf([again, second]), 2]);
    for (const { config_id } of [first, second]) {
      const { body } = await api.call('get', `/v1/configs/${config_id}`);
      expect(text).to.contain(JSON.stringify((body['versions'] as readonly object[])[0]));
    }
  });

  it('loses a config when it is revoked, and not before', async () => {
    const [kept, gone] = [await publish(), await publish()];
    await publish({ config_id: gone.config_id });
    expect((await listed()).total).to.equal(2);
    await api.call('delete', `/v1/configs/${gone.config_id}`);
    expect(namesOf((await listed()).items)).to.deep.equal(namesOf([kept]));
    const { body } = await api.call('get', `/v1/configs/${gone.config_id}`);
    expect(body['revoked_at']).to.be.a('string');
  });

  it('is read page by page', async () => {
    const made = [];
    for (let n = 0; n < 5; n += 1) made.unshift(await publish({ name: String(n) }));
    const pages = [
      await listed('&limit=2'),
      await listed('&limit=2&offset=2'),
      await listed('&limit=2&offset=4'),
    ];
    expect(pages.flatMap(({ items }) => namesOf(items))).to.deep.equal(namesOf(made));
    expect(pages.map(({ total }) => total)).to.deep.equal([5, 5, 5]);
    expect((await listed('&offset=9')).items).to.deep.equal([]);
  });

  it('is of one tenant, whoever asks', async () => {
    const own = await publish();
    const key = await api.newKey(tenant_id);
    const other = `other-${randomUUID()}`;
    const otherKey = await api.newKey(other);
    await publish({ tenant_id: other });
    expect(namesOf((await listed('', key)).items)).to.deep.equal(namesOf([own]));
    const path = `/v1/configs?tenant_id=${tenant_id}`;
    expect((await api.call('get', path, { key: otherKey })).code).to.equal('tenant_mismatch');
  });
});
