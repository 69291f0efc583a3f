import { expect } from 'chai';
import { LIMITED, testApi, type TestApi } from '../support/testApi.ts';
import { formOf, INVOICE } from '../support/client.ts';

describe('rate limits over HTTP', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  it('admit the burst of the general bucket, then its rate, for all keys of a tenant together', async () => {
    const tenant = `${LIMITED}general`;
    const keys = [await api.newKey(tenant), await api.newKey(tenant)];
    const call = async (times: number) => {
      const replies = await Promise.all(
        Array.from({ length: times }, (_, n) => api.call('get', '/v1/billing/rates', { key: keys[n % 2]! })),
      );
      return {
        admitted: replies.filter(({ status }) => status === 200).length,
        refused: replies.find(({ status }) => status === 429),
      };
    };
    const burst = await call(220);
    expect(burst.admitted).to.equal(200);
    const { refused } = burst;
    expect(refused!.code).to.equal('rate_limited');
    expect(refused!.headers.get('retry-after')).to.equal('1');
    expect(refused!.headers.get('ratelimit-limit')).to.equal('200');
    expect(refused!.headers.get('ratelimit-remaining')).to.equal('0');
    expect(refused!.headers.get('ratelimit-reset')).to.equal('4');
    expect(refused!.body['detail']).to.include('rate limit').and.to.include('general');
    for (let second = 0; second < 2; second += 1) {
      api.passMs(1000);
      expect((await call(60)).admitted).to.equal(50);
    }
  });

  it('let sorted pages of tenants take turns, and refuse those of one that asks for too many at once', async () => {
    const [many, few] = [`${LIMITED}many`, `${LIMITED}few`];
    const [keyOfMany, keyOfFew] = [await api.newKey(many), await api.newKey(few)];
    const order: string[] = [];
    const page = async (tenant: string, key: string) => {
      const reply = await api.call('get', `/v1/operations?tenant_id=${tenant}&sort=-pages`, { key });
      order.push(`${tenant} ${String(reply.status)}`);
      return reply;
    };
    const all = Array.from({ length: 60 }, () => page(many, keyOfMany));
    const replies = await Promise.all([...all, page(few, keyOfFew)]);
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).to.have.length.within(1, 39);
    expect(refused[0]?.code).to.equal('rate_limited');
    expect(refused[0]?.headers.get('retry-after')).to.equal('1');
    expect(replies.at(-1)?.status).to.equal(200);
    const isBefore = order.slice(order.indexOf(`${few} 200`)).filter((one) => one === `${many} 200`);
    expect(isBefore, 'pages of the one that asked for many, after the other had its own').not.to.deep.equal(
      [],
    );
  });

  it('admit 20 heavy requests at once, and leave the general bucket alone', async () => {
    const tenant = `${LIMITED}heavy`;
    const key = await api.newKey(tenant);
    const replies = await Promise.all(
      Array.from({ length: 40 }, () => api.call('post', '/v1/extract', { key, form: formOf({}, INVOICE) })),
    );
    const admitted = replies.filter(({ status }) => status !== 429).length;
    expect(admitted).to.equal(20);
    expect(replies.find(({ status }) => status === 429)!.body['bucket']).to.equal('heavy');
    const general = await api.call('get', '/v1/billing/rates', { key });
    expect(general.status).to.equal(200);
    expect(general.headers.get('ratelimit-limit')).to.equal('200');
    expect(Number(general.headers.get('ratelimit-remaining'))).to.equal(199);
  });

  it('leave health, metrics and the reference alone', async () => {
    for (const path of ['/health', '/metrics', '/docs', '/openapi.json'])
      expect((await api.call('get', path, { key: null })).headers.get('ratelimit-limit')).to.equal(null);
  });
});
