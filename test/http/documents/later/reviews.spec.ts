import { expect } from 'chai';
import { hasEnded } from '../../../../domain/leased.ts';
import { objectSweeper } from '../../../../src/worker/sweeping.ts';
import { operationIdOfReview, REVIEW_LEASE_MS } from '../../../../domain/review.ts';
import { until } from '../../../../engine/test/support/until.ts';
import { formOf, INVOICE, issuesIn, type Reply } from '../../support/client.ts';
import { startApi, type TestApi } from '../../support/testApi.ts';
import { dataOf, startReceiver } from '../../webhooks/receiver.ts';
import { WEBHOOK_ENV } from '../../webhooks/toldTenant.ts';
import { DECIDED, reviewedTenant, SCHEMA } from './reviewing.ts';

const DAY = 24 * 3_600_000;

type Call = Parameters<TestApi['call']>[2];

type Cited = Readonly<Record<string, { readonly by: string; readonly page: number | null }>>;

/** What each value of an operation was found by, and on which page. */
const citedBy = async (operation: Promise<unknown>): Promise<Cited> => {
  const { result } = (await operation) as {
    readonly result: {
      readonly meta: { readonly citations: readonly (Cited[string] & { readonly path: string })[] };
    };
  };
  return Object.fromEntries(result.meta.citations.map(({ path, by, page }) => [path, { by, page }]));
};

describe('reviews', () => {
  let api: TestApi;
  before(async () => {
    // Its clock is moved on: it is no one else's.
    api = await startApi(WEBHOOK_ENV);
  });
  after(() => api.stop());

  const newTenant = () => reviewedTenant(api);

  /** How many reviews of all tenants wait with a status, as operators are told. */
  const waiting = async (wanted: 'open' | 'leased'): Promise<number> => {
    const { body } = await api.call('get', '/v1/admin/service-state');
    const work = body['work'] as readonly { kind: string; status: string; count: number }[];
    return work.find(({ kind, status }) => kind === 'reviews' && status === wanted)?.count ?? 0;
  };

  it('are asked for by the request: the operation is billed once, and its result waits for a person', async () => {
    const { tenant_id, ...tenant } = await newTenant();
    const reply = await tenant.extracted();
    expect(reply.status, reply.text).to.equal(202);
    const review_id = String(reply.body['review_id']);
    const operation_id = operationIdOfReview(review_id);
    expect(reply.body).to.deep.include({ operation_id, status: 'needs_review', error: null });
    expect(reply.body).to.have.nested.property('result.result.invoice_number', 'Q-1001');
    expect(reply.body).to.have.nested.property('cost.pages', 1);
    const money = async () => ({ ...(await tenant.balance()), as_of: null });
    const bill = await money();
    expect(bill).to.include({ held_credits: 0, free_pages_remaining: 49 });

    const body = (await tenant.review(review_id)).body;
    expect(body).to.deep.include({
      review_id,
      operation_id,
      tenant_id,
      status: 'open',
      generation: 1,
      lease: null,
    });
    expect(body['reasons']).to.deep.equal([{ code: 'missing_required', path: '/iban' }]);
    expect(body['schema']).to.deep.equal(SCHEMA);
    expect(body['result']).to.deep.equal({ invoice_number: 'Q-1001', total: 120.5 });
    expect(body['citations']).to.be.an('array').that.is.not.empty;
    expect(body).to.have.nested.property('document.mime_type', 'text/plain');
    const file = await tenant.review(review_id, '/file');
    expect(file.text).to.equal(await INVOICE.text());

    const [item] = await tenant.listed('open');
    expect(item).to.deep.include({ review_id, reasons: ['missing_required'], status: 'open', counts: null });
    const operations = await tenant.call('get', `/v1/operations?tenant_id=${tenant_id}&status=needs_review`);
    expect(operations.body['total']).to.equal(1);

    const decided = await tenant.move(`${review_id}/decision`, { result: DECIDED, note: 'By phone.' });
    expect(decided.status, decided.text).to.equal(200);
    expect(decided.body).to.deep.include({ status: 'decided', result: DECIDED });
    const origins = { '/invoice_number': 'read', '/total': 'corrected', '/iban': 'corrected' };
    const counts = { read: 1, confirmed: 0, corrected: 2 };
    expect(decided.body['decision']).to.deep.include({ origins, counts, note: 'By phone.', generation: 1 });
    const done = await tenant.operation(review_id);
    expect(done).to.deep.include({ status: 'succeeded', cost: reply.body['cost'] });
    expect(done).to.have.deep.nested.property('result.result', DECIDED);
    expect(done).to.have.deep.nested.property('result.meta.origins', origins);
    expect(await citedBy(tenant.operation(review_id))).to.deep.equal({
      '/invoice_number': { by: 'concepts', page: 1 },
      '/total': { by: 'person', page: null },
      '/iban': { by: 'person', page: null },
    });
    expect(await money()).to.deep.equal(bill);
    expect(await tenant.listed('open')).to.deep.equal([]);
    expect((await tenant.listed('decided')).map(({ counts: some }) => some)).to.deep.equal([counts]);
    const succeeded = await tenant.call('get', `/v1/operations?tenant_id=${tenant_id}&status=succeeded`);
    expect(succeeded.body['total']).to.equal(1);
  });

  it('are not needed where nothing is in doubt: the call answers as it always did', async () => {
    const tenant = await newTenant();
    const schema = JSON.stringify({ ...SCHEMA, required: ['invoice_number'] });
    const plain = await tenant.extract({ schema, review: '{}' });
    expect(plain.status, plain.text).to.equal(200);
    const reply = await tenant.extracted({ schema });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.body['result']).to.deep.equal(plain.body['result']);
    expect(Object.keys(reply.body).sort()).to.deep.equal(Object.keys(plain.body).sort());
    expect(await tenant.listed()).to.deep.equal([]);
    const unread = await tenant.extracted({ schema, pages: '7' });
    expect(unread.status, unread.text).to.equal(422);
  });

  it('fail as the call does where what does not fit is not missing', async () => {
    const tenant = await newTenant();
    const schema = JSON.stringify({
      ...SCHEMA,
      properties: { ...SCHEMA.properties, total: { type: 'number', maximum: 1 } },
    });
    const reply = await tenant.extracted({ schema });
    expect(reply.status, reply.text).to.equal(422);
    expect(reply.code).to.equal('output_schema_mismatch');
    expect(await tenant.listed()).to.deep.equal([]);
    expect(await tenant.balance()).to.include({ held_credits: 0, free_pages_remaining: 50 });
  });

  it('are asked for by a config, and the request has the last word', async () => {
    const { tenant_id, ...tenant } = await newTenant();
    const config = { tenant_id, schema: SCHEMA, mode: 'fast', review: { sample: 1 } };
    const saved = await api.call('post', '/v1/configs', { json: config });
    expect(saved.status, saved.text).to.equal(200);
    expect(saved.body['review']).to.deep.equal({ sample: 1 });
    const config_id = String(saved.body['config_id']);
    const schema = JSON.stringify({ ...SCHEMA, required: [] });
    const send = (over: Record<string, string>) => {
      const form = formOf({ config_id, schema, ...over }, INVOICE);
      return tenant.call('post', '/v1/extract', { form, headers: { prefer: 'respond-async' } });
    };
    const ended = async (reply: Reply) => {
      const id = String(reply.body['operation_id']);
      await until(async () => {
        await api.operations.drain();
        return hasEnded(await api.deps.operations.streams.stateOf(id));
      });
      return (await tenant.call('get', `/v1/operations/${id}`)).body;
    };
    const sampled = await ended(await send({}));
    expect(sampled).to.include({ status: 'needs_review' });
    const review = (await tenant.review(String(sampled['review_id']))).body;
    expect(review['reasons']).to.deep.equal([{ code: 'sample', path: '' }]);
    const decided = await tenant.move(`${String(sampled['review_id'])}/decision`, {
      result: review['result'],
    });
    expect(decided.body).to.have.nested.property('decision.counts.confirmed', 2);
    expect(await ended(await send({ review: '{}' }))).to.include({ status: 'succeeded', review_id: null });
  });

  it('refuse a policy that is none', async () => {
    const tenant = await newTenant();
    for (const review of ['{"below": 2}', '{"bellow": 0.5}', 'no'])
      expect((await tenant.extract({ review })).status, review).to.equal(422);
    expect(issuesIn(await tenant.extract({ review: 'no' }))[0]).to.match(/^body\.review /);
  });

  it('refuse a decision that does not fit the schema, and keep the review open', async () => {
    const tenant = await newTenant();
    const id = await tenant.needed();
    const wrong = await tenant.move(`${id}/decision`, { result: { invoice_number: 7, colour: 'red' } });
    expect(wrong.status, wrong.text).to.equal(422);
    expect(wrong.code).to.equal('output_schema_mismatch');
    const paths = (wrong.body['validation_errors'] as readonly { path: string }[]).map(({ path }) => path);
    expect(paths.sort()).to.deep.equal(['/colour', '/iban', '/invoice_number']);
    expect((await tenant.move(`${id}/decision`, {})).status).to.equal(422);
    expect((await tenant.review(id)).body).to.include({ status: 'open', generation: 1 });
  });

  it('are leased by one person for 15 minutes, who can go on', async () => {
    const { tenant_id, ...tenant } = await newTenant();
    const other = { key: await api.newKey(tenant_id) };
    const id = await tenant.needed();
    const mine = await tenant.move(`${id}/lease`);
    expect(mine.status, mine.text).to.equal(200);
    expect(mine.body).to.include({ status: 'leased' });
    expect((await tenant.listed('leased')).map(({ review_id }) => review_id)).to.deep.equal([id]);
    for (const refused of [
      await tenant.move(`${id}/lease`, undefined, other),
      await tenant.move(`${id}/decision`, { result: DECIDED }, other),
    ]) {
      expect(refused.status, refused.text).to.equal(409);
      expect(refused.code).to.equal('review_leased');
      expect(refused.body['lease_until']).to.match(/^\d{4}-/);
    }
    api.wait(REVIEW_LEASE_MS - 60_000);
    expect((await tenant.move(`${id}/lease`)).status).to.equal(200);
    api.wait(REVIEW_LEASE_MS - 60_000);
    expect((await tenant.move(`${id}/lease`, undefined, other)).code).to.equal('review_leased');
    api.wait(2 * 60_000);
    expect(await tenant.listed('leased')).to.deep.equal([]);
    expect((await tenant.move(`${id}/lease`, undefined, other)).status).to.equal(200);
    expect((await tenant.move(`${id}/decision`, { result: DECIDED })).code).to.equal('review_leased');
  });

  it('are left by whoever looked at them: the next person need not wait', async () => {
    const { tenant_id, ...tenant } = await newTenant();
    const other = { key: await api.newKey(tenant_id) };
    const id = await tenant.needed();
    await tenant.move(`${id}/lease`);
    const leave = (by: Call = {}) => tenant.call('delete', `/v1/reviews/${id}/lease`, by);
    expect((await leave(other)).status, 'of somebody else nothing is taken').to.equal(204);
    expect((await tenant.move(`${id}/lease`, undefined, other)).code).to.equal('review_leased');
    for (const once of [await leave(), await leave()]) expect(once.status, once.text).to.equal(204);
    expect((await tenant.review(id)).body).to.include({ status: 'open', lease: null });
    expect((await tenant.listed('open')).map(({ review_id }) => review_id)).to.deep.equal([id]);
    const [open, leased] = [await waiting('open'), await waiting('leased')];
    expect((await tenant.move(`${id}/lease`, undefined, other)).status).to.equal(200);
    await tenant.listed();
    expect([await waiting('open'), await waiting('leased')]).to.deep.equal([open - 1, leased + 1]);
    expect((await tenant.move(`${id}/decision`, { result: DECIDED }, other)).status).to.equal(200);
    await tenant.listed();
    expect([await waiting('open'), await waiting('leased')]).to.deep.equal([open - 1, leased]);
    expect((await leave(other)).status).to.equal(204);
    expect((await tenant.call('delete', '/v1/reviews/rev_nobody/lease')).code).to.equal('review_not_found');
  });

  it('are decided once, whoever of two is first; the same again is answered as the first', async () => {
    const { tenant_id, ...tenant } = await newTenant();
    const other = { key: await api.newKey(tenant_id) };
    const id = await tenant.needed();
    const theirs = { ...DECIDED, total: 5 };
    const [one, two] = await Promise.all([
      tenant.move(`${id}/decision`, { result: DECIDED }),
      tenant.move(`${id}/decision`, { result: theirs }, other),
    ]);
    expect([one.status, two.status].sort()).to.deep.equal([200, 409]);
    expect([one.code, two.code]).to.include('review_decided');
    const won = one.status === 200 ? DECIDED : theirs;
    expect((await tenant.review(id)).body['result']).to.deep.equal(won);
    const again = await tenant.move(`${id}/decision`, { result: won });
    expect(again.status, again.text).to.equal(200);
    const lost = await tenant.move(`${id}/decision`, { result: one.status === 200 ? theirs : DECIDED });
    expect(lost.body).to.include({ code: 'review_decided', generation: 1 });
    expect((await tenant.move(`${id}/lease`)).code).to.equal('review_decided');
  });

  it('are opened again, with what was decided as the result to look at', async () => {
    const tenant = await newTenant();
    const id = await tenant.needed();
    expect((await tenant.move(`${id}/reopen`)).body).to.include({ status: 'open', generation: 1 });
    await tenant.move(`${id}/decision`, { result: DECIDED });
    api.wait(2 * DAY);
    const open = await tenant.move(`${id}/reopen`);
    expect(open.body).to.deep.include({ status: 'open', generation: 2, result: DECIDED });
    expect(await tenant.operation(id)).to.include({ status: 'needs_review' });
    const late = await tenant.move(`${id}/decision`, { result: { ...DECIDED, total: 1 }, generation: 1 });
    expect(late.code).to.equal('review_decided');
    const result = { ...DECIDED, total: 120.5 };
    const decided = await tenant.move(`${id}/decision`, { result, generation: 2 });
    expect(decided.body).to.deep.include({ status: 'decided', result });
    expect(decided.body).to.have.nested.property('decision.origins./total', 'read');
    expect(await tenant.operation(id)).to.have.deep.nested.property('result.result', result);
  });

  it('tell who did what, and where the values stand that nobody changed', async () => {
    const { tenant_id, ...tenant } = await newTenant();
    const other = { key: await api.newKey(tenant_id) };
    const id = await tenant.needed();
    expect((await tenant.review(id)).body['history']).to.deep.equal([]);
    await tenant.move(`${id}/decision`, { result: DECIDED });
    await tenant.move(`${id}/reopen`, undefined, other);
    await tenant.move(`${id}/reject`, { reason: 'wrong_document' }, other);
    const { body } = await tenant.review(id);
    const history = body['history'] as readonly Readonly<Record<string, unknown>>[];
    const counts = { read: 1, confirmed: 0, corrected: 2 };
    expect(history.map(({ at: _, by: __, ...what }) => what)).to.deep.equal([
      { kind: 'decided', generation: 1, counts, reason: null },
      { kind: 'reopened', generation: 2, counts: null, reason: null },
      { kind: 'rejected', generation: 2, counts: null, reason: 'wrong_document' },
    ]);
    const [first, second, third] = history.map(({ by }) => by);
    expect(second).to.equal(third).and.not.to.equal(first);
    const cited = body['citations'] as readonly { readonly path: string; readonly by: string }[];
    expect(cited.find(({ path }) => path === '/total')).to.include({ by: 'person', page: null });
    expect(cited.find(({ path }) => path === '/invoice_number')).to.include({ by: 'concepts', page: 1 });
  });

  it('are listed with the least confidence of what is in doubt, and sorted by it', async () => {
    const { tenant_id, ...tenant } = await newTenant();
    const missing = await tenant.needed();
    const unsure = await tenant.needed({
      schema: JSON.stringify({ ...SCHEMA, required: [] }),
      review: '{"below":1}',
    });
    const { body } = await tenant.review(unsure);
    const doubts = body['reasons'] as readonly { readonly confidence?: number }[];
    const least = Math.min(...doubts.map(({ confidence = 1 }) => confidence));
    expect(least).to.be.lessThan(1);
    for (const sort of ['least_confidence', '-least_confidence']) {
      const list = await tenant.call('get', `/v1/reviews?tenant_id=${tenant_id}&sort=${sort}`);
      expect(list.status, list.text).to.equal(200);
      const items = list.body['items'] as readonly { review_id: string; least_confidence: number | null }[];
      expect(items.map(({ review_id }) => review_id)).to.deep.equal([unsure, missing]);
      expect(items[0]?.least_confidence).to.be.closeTo(least, 0.0001);
      expect(items[1]?.least_confidence).to.equal(null);
    }
  });

  it('expire with their result, and decisions a month later; then nothing of them is left', async () => {
    const tenant = await newTenant();
    const id = await tenant.needed();
    const decided = await tenant.needed();
    await tenant.move(`${decided}/decision`, { result: DECIDED });
    const sweeper = objectSweeper(api.swept);
    const left = async (review: string) => {
      const keys: string[] = [];
      for (const prefix of [`reviews/${review}/`, `operations/${operationIdOfReview(review)}/`])
        for await (const { key } of api.objects.list(prefix)) keys.push(key);
      return keys.length;
    };
    api.wait(DAY - 60_000);
    await sweeper.sweep();
    expect((await tenant.review(id)).body).to.include({ status: 'open' });
    expect((await tenant.review(id, '/file')).status).to.equal(200);
    api.wait(2 * 60_000);
    expect((await tenant.review(id)).body).to.deep.include({
      status: 'expired',
      result: null,
      document: null,
    });
    for (const refused of [
      await tenant.move(`${id}/lease`),
      await tenant.move(`${id}/decision`, { result: DECIDED }),
      await tenant.call('delete', `/v1/reviews/${id}/lease`),
      await tenant.move(`${id}/reopen`),
      await tenant.review(id, '/file'),
    ])
      expect([refused.status, refused.code], refused.text).to.deep.equal([409, 'review_expired']);
    expect(await tenant.listed('open')).to.deep.equal([]);
    await sweeper.sweep();
    expect([await left(id), await left(decided)]).to.deep.equal([0, 4]);
    expect((await tenant.operation(decided))['result']).to.have.deep.property('result', DECIDED);
    api.wait(30 * DAY);
    expect((await tenant.review(decided)).body).to.include({ status: 'expired' });
    await sweeper.sweep();
    expect(await left(decided)).to.equal(0);
  });

  it('are told to receivers: once when they are needed, and once when they are decided', async () => {
    const { tenant_id, ...tenant } = await newTenant();
    const receiver = await startReceiver();
    try {
      const json = {
        tenant_id,
        url: receiver.url,
        events: ['review.needed', 'review.decided', 'operation.succeeded'],
      };
      expect((await tenant.call('post', '/v1/webhooks', { json })).status).to.equal(201);
      const review_id = await tenant.needed();
      await tenant.move(`${review_id}/lease`);
      for (let times = 0; times < 2; times += 1)
        await tenant.move(`${review_id}/decision`, { result: DECIDED });
      await until(async () => {
        await api.deps.reads.settleAll();
        await api.webhooks.drain();
        return receiver.received.length >= 2;
      });
      await api.webhooks.drain();
      const told = receiver.received.map(dataOf).map(({ duration_ms: _, ...data }) => data);
      const operation_id = operationIdOfReview(review_id);
      expect(told).to.have.deep.members([
        { review_id, operation_id, reasons: ['missing_required'] },
        { review_id, operation_id, generation: 1, read: 1, confirmed: 0, corrected: 2, absent: 0 },
      ]);
    } finally {
      await receiver.stop();
    }
  });

  it('go with their document when it is erased', async () => {
    const tenant = await newTenant();
    const id = await tenant.needed();
    await tenant.move(`${id}/decision`, { result: DECIDED });
    const { document_id } = (await tenant.review(id)).body['document'] as { document_id: string };
    expect((await tenant.call('delete', `/v1/documents/${document_id}`)).status).to.equal(204);
    for await (const { key } of api.objects.list('')) expect(key).not.to.include(id.slice('rev_'.length));
    expect((await tenant.review(id)).body).to.deep.include({
      status: 'expired',
      result: null,
      decision: null,
    });
    expect((await tenant.move(`${id}/reopen`)).code).to.equal('review_expired');
    expect(await tenant.listed('decided')).to.deep.equal([]);
  });

  it('are nobody else’s: another tenant hears that there is none', async () => {
    const [tenant, stranger] = [await newTenant(), await newTenant()];
    const id = await tenant.needed();
    const by = { key: stranger.key };
    for (const reply of [
      await tenant.review(id, '', by),
      await tenant.review(id, '/file', by),
      await tenant.move(`${id}/lease`, undefined, by),
      await tenant.move(`${id}/decision`, { result: DECIDED }, by),
      await tenant.move(`${id}/reopen`, undefined, by),
      await tenant.review(`rev_${'0'.repeat(26)}`),
      await tenant.review('op_1'),
    ])
      expect([reply.status, reply.code], reply.text).to.deep.equal([404, 'review_not_found']);
    const list = await tenant.call('get', `/v1/reviews?tenant_id=${tenant.tenant_id}`, by);
    expect(list.code).to.equal('tenant_mismatch');
    expect((await tenant.review(id, '', { key: null })).status).to.equal(401);
    expect((await tenant.review(id)).body).to.include({ status: 'open', generation: 1 });
    const service = { key: await api.newKey('ops', 'service') };
    expect((await tenant.move(`${id}/decision`, { result: DECIDED }, service)).status).to.equal(200);
  });
});
