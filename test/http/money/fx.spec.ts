import { expect } from 'chai';
import { issuesIn } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

describe('exchange rates over HTTP', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
    const published = await publish({ date: '1999-02-05', rates: { GBP: '0.6900', CHF: '1.6' } });
    expect(published.body).to.include({ published: true, source: 'admin', base: 'EUR' });
  });

  const publish = (json: unknown) => api.call('post', '/v1/admin/fx-rates', { json });
  const rate = (query: string) => api.call('get', `/v1/admin/fx-rate?${query}`);

  it('gives the last known rate, and says of which day it is', async () => {
    expect((await rate('quote=GBP&on=1999-02-07')).body).to.deep.equal({
      base: 'EUR',
      quote: 'GBP',
      rate: '0.6900',
      rate_date: '1999-02-05',
      requested_date: '1999-02-07',
      source: 'admin',
    });
    expect((await rate('quote=GBP&on=2999-01-01')).body).to.include({ requested_date: '2999-01-01' });
    const today = (await rate('quote=GBP')).body;
    expect(today['requested_date']).to.equal(api.deps.clock.now().slice(0, 10));
  });

  it('crosses through EUR', async () => {
    expect((await rate('base=GBP&quote=CHF&on=1999-02-05')).body['rate']).to.equal('2.318840579710144928');
  });

  it('says when none is known, and refuses what is no currency', async () => {
    expect((await rate('quote=GBP&on=1999-02-04')).code).to.equal('fx_rate_not_found');
    expect(issuesIn(await rate('quote=QQQ'))[0]).to.contain('query.quote');
    expect(issuesIn(await rate('on=yesterday'))[0]).to.contain('query.on');
  });

  it('corrects a day by a further publication, and repeats nothing', async () => {
    const first = { date: '1999-03-05', rates: { GBP: '0.70' }, source: 'desk' };
    expect((await publish(first)).body).to.include({ published: true });
    expect((await publish(first)).body).to.include({ published: false, published_at: null });
    await publish({ ...first, rates: { GBP: '0.71' } });
    expect((await rate('quote=GBP&on=1999-03-06')).body).to.include({ rate: '0.71', source: 'desk' });
  });

  it('refuses rates that are none', async () => {
    for (const rates of [{}, { GBP: '0' }, { GBP: 1 }, { QQQ: '1' }, { EUR: '1' }, { GBP: '-1' }])
      expect((await publish({ date: '1999-03-08', rates })).status).to.equal(422);
    expect((await publish({ date: '1999-02-30', rates: { GBP: '1' } })).status).to.equal(422);
  });
});
