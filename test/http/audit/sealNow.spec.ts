import { expect } from 'chai';
import { startApi, type TestApi } from '../support/testApi.ts';

describe('sealing the log over HTTP', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  const seal = (json: object = {}, key?: string) =>
    api.call('post', '/v1/admin/seals', { json, ...(key !== undefined && { key }) });
  const listed = async () =>
    (await api.call('get', '/v1/admin/seals')).body['items'] as readonly Readonly<Record<string, unknown>>[];

  it('makes a seal that names the one before, by the one who asked', async () => {
    const first = await seal();
    expect(first.status, first.text).to.equal(201);
    expect(first.body).to.include({ continues: true, object_key: null, state: 'not_checked' });
    const second = await seal({ retain_days: null });
    expect(Number(second.body['events'])).to.be.greaterThan(Number(first.body['events']));
    expect(await listed()).to.deep.equal([second.body, first.body]);
    const events = await api.call('get', '/v1/admin/events?type=LogSealed');
    const { metadata } = JSON.parse(events.text.split('\n')[0] ?? '') as { readonly metadata: object };
    expect(metadata).to.have.nested.property('actor.role', 'admin');
  });

  it('makes one seal of each request of several at once, one after the other', async () => {
    const before = await listed();
    const answers = await Promise.all([seal(), seal(), seal()]);
    const made = answers.filter(({ status }) => status === 201);
    expect(made).to.have.length.greaterThan(0);
    expect(answers.filter(({ status }) => status !== 201 && status !== 409)).to.deep.equal([]);
    const all = await listed();
    expect(all).to.have.lengthOf(before.length + made.length);
    expect(all.map(({ continues }) => continues)).not.to.include(false);
  });

  it('says why where the store has no lock, and is for admins', async () => {
    const before = await listed();
    const refused = await seal({ retain_days: 30 });
    expect([refused.status, refused.code], refused.text).to.deep.equal([409, 'log_not_sealed']);
    expect((await seal({ retain_days: 0 })).code).to.equal('validation_error');
    const key = await api.newKey('sealed');
    expect((await seal({}, key)).code).to.equal('admin_required');
    expect(await listed()).to.deep.equal(before);
  });
});
