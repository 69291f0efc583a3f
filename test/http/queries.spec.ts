import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { inputOf, pathOf } from './access/verdicts.ts';
import { issuesIn } from './support/client.ts';
import { testApi, type TestApi } from './support/testApi.ts';

describe('the parameters of a query', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const ask = (path: string) => api.call('get', path);
  const said = (reply: Awaited<ReturnType<typeof ask>>) =>
    (reply.body['errors'] as readonly { readonly msg: string }[]).map(({ msg }) => msg);

  it('are refused by every route that needs a key, if it does not know them', async () => {
    const taken: string[] = [];
    for (const route of api.routes.filter(({ access }) => access !== 'public')) {
      const path = pathOf(route);
      const asked = `${path}${path.includes('?') ? '&' : '?'}not_a_parameter=1`;
      const options = { ...inputOf(route), headers: { 'idempotency-key': randomUUID() } };
      const reply = await api.call(route.method, asked, options);
      const isRefused = reply.status === 422 && reply.text.includes('not_a_parameter');
      if (!isRefused) taken.push(`${route.operationId}: ${reply.text}`);
    }
    expect(taken).to.deep.equal([]);
  });

  it('have a near name that is told, or all names', async () => {
    const margin = await ask('/v1/admin/margin-report?strat=2026-01-01');
    expect(margin.status).to.equal(422);
    expect(issuesIn(margin)).to.deep.equal(['query.strat extra_forbidden']);
    expect(said(margin)).to.deep.equal(['Unknown parameter; do you mean `start`?']);
    expect(margin.body['detail']).to.equal('query.strat: Unknown parameter; do you mean `start`?');
    expect(said(await ask('/v1/operations?zzzzzzzz=1'))[0]).to.match(/^Unknown parameter\. Known here: `/u);
    expect(said(await ask('/v1/admin/audits/any?x=1'))).to.deep.equal([
      'Unknown parameter: this route takes none.',
    ]);
  });

  it('are not empty', async () => {
    const reply = await ask('/v1/admin/fx-rate?quote=GBP&on=');
    expect(issuesIn(reply)).to.deep.equal(['query.on too_small']);
  });

  it('do not end a period before its start', async () => {
    const period = (from: string, to: string) => ask(`/v1/admin/margin-report?start=${from}&end=${to}`);
    expect(issuesIn(await period('2026-02-01', '2026-01-31'))).to.deep.equal(['query.end custom']);
    expect((await period('2026-01-31', '2026-01-31')).status).to.equal(200);
  });
});
