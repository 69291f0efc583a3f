import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { hasEnded } from '../../../../domain/leased.ts';
import { operationIdOfReview } from '../../../../domain/review.ts';
import { until } from '../../../../engine/test/support/until.ts';
import { formOf, type Reply } from '../../support/client.ts';
import { startApi, type TestApi } from '../../support/testApi.ts';
import { dataOf, startReceiver } from '../../webhooks/receiver.ts';
import { WEBHOOK_ENV } from '../../webhooks/toldTenant.ts';
import { DECIDED, reviewedTenant } from './reviewing.ts';

describe('reviews that end otherwise than by a whole decision', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi(WEBHOOK_ENV);
  });
  after(() => api.stop());

  const newTenant = () => reviewedTenant(api);

  it('end with their document when it is erased: a decision under way is refused, and goes', async () => {
    const tenant = await newTenant();
    const id = await tenant.needed();
    const { document_id } = (await tenant.review(id)).body['document'] as { document_id: string };
    const secret = `told-${randomUUID()}`;
    let erased: Reply | undefined;
    api.faults.beforePut = async (key) => {
      if (!key.startsWith(`reviews/${id}/`) || erased !== undefined) return;
      erased = await tenant.call('delete', `/v1/documents/${document_id}`);
    };
    const result = { ...DECIDED, invoice_number: secret };
    const late = await tenant.move(`${id}/decision`, { result, note: secret });
    api.faults.beforePut = () => Promise.resolve();
    expect(erased?.status, erased?.text).to.equal(204);
    expect([late.status, late.code], late.text).to.deep.equal([409, 'review_expired']);
    expect((await tenant.review(id)).body).to.deep.include({ status: 'expired', decision: null });
    const operation = await tenant.operation(id);
    expect(JSON.stringify(operation)).not.to.include(secret);
    expect(operation).to.deep.include({ result: null }).and.not.include({ status: 'needs_review' });
    for await (const { key } of api.objects.list('')) expect(key).not.to.include(id.slice('rev_'.length));
  });

  it('are rejected: the operation has failed, nothing is billed again, and the reading stays', async () => {
    const { tenant_id, ...tenant } = await newTenant();
    const review_id = await tenant.needed();
    const money = async () => ({ ...(await tenant.balance()), as_of: null });
    const [bill, before] = [await money(), (await tenant.review(review_id)).body];
    const refused = await tenant.move(`${review_id}/reject`, { reason: 'illegible', note: 'Coffee on it.' });
    expect(refused.status, refused.text).to.equal(200);
    expect(refused.body).to.deep.include({ status: 'rejected', result: before['result'], decision: null });
    expect(refused.body['rejection']).to.deep.include({ reason: 'illegible', note: 'Coffee on it.' });
    const operation = await tenant.operation(review_id);
    expect(operation).to.deep.include({ status: 'failed' });
    expect(operation).to.have.nested.property('error.code', 'review_rejected');
    expect(operation).to.have.nested.property('error.reason', 'illegible');
    expect(operation).to.have.nested.property('result.result.invoice_number', 'Q-1001');
    expect(await money()).to.deep.equal(bill);
    const failed = await tenant.call('get', `/v1/operations?tenant_id=${tenant_id}&status=failed`);
    expect(failed.body['items']).to.have.nested.property('[0].problem_code', 'review_rejected');
    const [item] = await tenant.listed('rejected');
    expect(item).to.deep.include({ status: 'rejected', rejection_reason: 'illegible', counts: null });
    expect(await tenant.listed('open')).to.deep.equal([]);

    const again = await tenant.move(`${review_id}/reject`, { reason: 'illegible', note: 'Coffee on it.' });
    expect(again.body['rejection']).to.deep.equal(refused.body['rejection']);
    for (const late of [
      await tenant.move(`${review_id}/reject`, { reason: 'other' }),
      await tenant.move(`${review_id}/decision`, { result: DECIDED }),
      await tenant.move(`${review_id}/lease`),
    ])
      expect([late.status, late.code], late.text).to.deep.equal([409, 'review_decided']);
    const open = await tenant.move(`${review_id}/reopen`);
    expect(open.body).to.deep.include({ status: 'open', generation: 2, rejection: null });
    expect(await tenant.operation(review_id)).to.deep.include({ status: 'needs_review', error: null });
    expect((await tenant.move(`${review_id}/decision`, { result: DECIDED })).status).to.equal(200);
  });

  it('are rejected for a reason, by who holds them; what was written goes with the document', async () => {
    const { tenant_id, ...tenant } = await newTenant();
    const other = { key: await api.newKey(tenant_id) };
    const review_id = await tenant.needed();
    expect((await tenant.move(`${review_id}/reject`, { reason: 'boring' })).status).to.equal(422);
    expect((await tenant.move(`${review_id}/reject`, {})).status).to.equal(422);
    await tenant.move(`${review_id}/lease`);
    const theirs = await tenant.move(`${review_id}/reject`, { reason: 'other' }, other);
    expect([theirs.status, theirs.code]).to.deep.equal([409, 'review_leased']);
    const note = `told-${randomUUID()}`;
    await tenant.move(`${review_id}/reject`, { reason: 'wrong_document', note });
    expect((await tenant.review(review_id)).text).to.include(note);
    const { document_id } = (await tenant.review(review_id)).body['document'] as { document_id: string };
    expect((await tenant.call('delete', `/v1/documents/${document_id}`)).status).to.equal(204);
    const gone = await tenant.review(review_id);
    expect(gone.text).not.to.include(note);
    expect(gone.body).to.have.nested.property('rejection.note', null);
    expect(await tenant.operation(review_id)).to.deep.include({ status: 'failed', result: null });
  });

  it('tell receivers that they were rejected', async () => {
    const { tenant_id, ...tenant } = await newTenant();
    const receiver = await startReceiver();
    try {
      const json = { tenant_id, url: receiver.url, events: ['review.rejected'] };
      expect((await tenant.call('post', '/v1/webhooks', { json })).status).to.equal(201);
      const review_id = await tenant.needed();
      await tenant.move(`${review_id}/reject`, { reason: 'value_missing', note: 'No IBAN.' });
      await until(async () => {
        await api.deps.reads.settleAll();
        await api.webhooks.drain();
        return receiver.received.length >= 1;
      });
      const operation_id = operationIdOfReview(review_id);
      expect(receiver.received.map(dataOf)).to.deep.equal([
        { review_id, operation_id, generation: 1, reason: 'value_missing' },
      ]);
    } finally {
      await receiver.stop();
    }
  });

  it('are decided without a required value that the document does not say: the answer is partial', async () => {
    const { tenant_id, ...tenant } = await newTenant();
    const review_id = await tenant.needed();
    const result = { invoice_number: 'Q-1001', total: 121 };
    const silent = await tenant.move(`${review_id}/decision`, { result });
    expect([silent.status, silent.code]).to.deep.equal([422, 'output_schema_mismatch']);
    for (const absent of [['/iban', '/total'], ['/colour'], ['']]) {
      const wrong = await tenant.move(`${review_id}/decision`, { result, absent });
      expect([wrong.status, wrong.code], wrong.text).to.deep.equal([422, 'validation_error']);
    }
    const odd = await tenant.move(`${review_id}/decision`, { result: { total: 'much' }, absent: ['/iban'] });
    expect(odd.code).to.equal('output_schema_mismatch');
    const decided = await tenant.move(`${review_id}/decision`, { result, absent: ['/iban'] });
    expect(decided.status, decided.text).to.equal(200);
    expect(decided.body).to.deep.include({ status: 'decided', result });
    expect(decided.body).to.have.deep.nested.property('decision.absent', ['/iban']);
    const operation = await tenant.operation(review_id);
    expect(operation).to.deep.include({ status: 'partial', error: null });
    expect(operation).to.have.nested.property('result.status', 'partial');
    expect(operation).to.have.deep.nested.property('result.result', result);
    expect(operation).to.have.nested.property('result.validation_errors[0].path', '/iban');
    expect(operation).to.have.nested.property('result.validation_errors[0].keyword', 'required');
    const partial = await tenant.call('get', `/v1/operations?tenant_id=${tenant_id}&status=partial`);
    expect(partial.body['total']).to.equal(1);
  });

  it('are expired once it is too late: the operation is what it was before, wherever it is looked at', async () => {
    const { tenant_id, ...tenant } = await newTenant();
    const [id, decided] = [await tenant.needed(), await tenant.needed({ task_id: 'decided' })];
    expect((await tenant.move(`${decided}/decision`, { result: DECIDED })).status).to.equal(200);
    const statuses = async (path: string) => {
      const { body } = await tenant.call('get', `${path}?tenant_id=${tenant_id}`);
      return (body['items'] as readonly { readonly status: string }[]).map(({ status }) => status);
    };
    const run = async () => (await tenant.call('get', `/v1/runs/${operationIdOfReview(id)}`)).body['status'];
    for (const path of ['/v1/operations', '/v1/runs'])
      expect(await statuses(path), path).to.deep.equal(['succeeded', 'needs_review']);
    expect(await run()).to.equal('needs_review');
    api.wait(25 * 3_600_000);
    expect((await tenant.review(id)).body).to.include({ status: 'expired' });
    const before = await tenant.operation(id);
    expect(before).to.deep.include({ result: null, error: null, review_id: id });
    expect(before['status']).to.be.oneOf(['succeeded', 'partial']);
    for (const path of ['/v1/operations', '/v1/runs'])
      expect(await statuses(path), path).to.not.include('needs_review');
    expect(await run()).to.equal(before['status']);
    const waiting = await tenant.call('get', `/v1/operations?tenant_id=${tenant_id}&status=needs_review`);
    expect(waiting.body['total']).to.equal(0);
  });

  it('of thousands of values are read and decided as small ones are', async () => {
    const tenant = await newTenant();
    const rows = Array.from({ length: 1_500 }, (_, at) => ({ code: 1_000 + at, amount: at % 97 }));
    const csv = rows.map(({ code, amount }) => `${String(code)},${String(amount)}\n`).join('');
    const number = { type: 'integer' };
    const items = { type: 'object', properties: { code: number, amount: number } };
    const schema = { type: 'object', properties: { rows: { type: 'array', items } } };
    const fields = { schema: JSON.stringify(schema), mode: 'fast', review: '{"sample": 1}' };
    const form = formOf(fields, new Blob([`code,amount\n${csv}`]), 'a.csv');
    const accepted = await tenant.call('post', '/v1/extract', { form, headers: { prefer: 'respond-async' } });
    const operation_id = String(accepted.body['operation_id']);
    await until(async () => {
      await api.operations.drain();
      return hasEnded(await api.deps.operations.streams.stateOf(operation_id));
    });
    const id = String((await tenant.call('get', `/v1/operations/${operation_id}`)).body['review_id']);
    expect((await tenant.review(id)).body).to.deep.include({ status: 'open', result: { rows } });
    const result = { rows: [{ code: 1, amount: 1 }, ...rows.slice(1)] };
    const headers = { 'idempotency-key': randomUUID() };
    const decided = await tenant.move(`${id}/decision`, { result }, { headers });
    expect(decided.status, decided.text.slice(0, 200)).to.equal(200);
    expect(decided.body).to.have.deep.nested.property('decision.counts', {
      read: 0,
      confirmed: 2_998,
      corrected: 2,
    });
    const replayed = await tenant.move(`${id}/decision`, { result }, { headers });
    expect(replayed.text).to.equal(decided.text);
    expect(await tenant.operation(id)).to.have.deep.nested.property('result.result', result);
    const open = await tenant.move(`${id}/reopen`);
    expect(open.body).to.deep.include({ status: 'open', generation: 2, result });
  });
});
