import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { operationIdOfReview } from '../../../../domain/review.ts';
import { until } from '../../../../engine/test/support/until.ts';
import { formOf, INVOICE, type Reply } from '../../support/client.ts';
import type { TestApi } from '../../support/testApi.ts';

export const SCHEMA = {
  type: 'object',
  properties: {
    invoice_number: { type: 'string' },
    total: { type: 'number' },
    iban: { type: 'string' },
  },
  required: ['invoice_number', 'iban'],
  additionalProperties: false,
};
/** The document has no such number, and a person knows it. */
const MISSING = JSON.stringify({ missing_required: true });

/** A right decision about the document. */
export const DECIDED = { invoice_number: 'Q-1001', total: 121, iban: 'DE02120300000000202051' };

type Call = Parameters<TestApi['call']>[2];

/** A tenant whose results people look at. */
export const reviewedTenant = async (api: TestApi) => {
  const tenant_id = `rev-${randomUUID()}`;
  const key = await api.newKey(tenant_id);
  await api.sell(tenant_id, 10_000);
  const call = (method: string, path: string, options: Call = {}) =>
    api.call(method, path, { key, ...options });
  const fields = { schema: JSON.stringify(SCHEMA), mode: 'fast', review: MISSING };
  const extract = (over: Record<string, string> = {}, options: Call = {}) =>
    call('post', '/v1/extract', { form: formOf({ ...fields, ...over }, INVOICE), ...options });
  /** Sends it, and does what is in the queue meanwhile. */
  const extracted = async (over: Record<string, string> = {}, options: Call = {}): Promise<Reply> => {
    let answer: Reply | undefined;
    const sent = extract(over, options).then((reply) => (answer = reply));
    await until(async () => {
      await api.operations.drain();
      return answer !== undefined;
    });
    return sent;
  };
  /** A result that needs a review. */
  const needed = async (over: Record<string, string> = {}) => {
    const reply = await extracted(over);
    expect(reply.status, reply.text).to.equal(202);
    expect(reply.body).to.include({ status: 'needs_review' });
    return String(reply.body['review_id']);
  };
  const review = async (id: string, rest = '', options: Call = {}) =>
    call('get', `/v1/reviews/${id}${rest}`, options);
  /** `what`: the ID of the review and `lease`, `decision` or `reopen`. */
  const move = (what: string, json?: object, by: Call = {}) =>
    call('post', `/v1/reviews/${what}`, { ...(json && { json }), ...by });
  const operation = async (id: string) =>
    (await call('get', `/v1/operations/${operationIdOfReview(id)}`)).body;
  const listed = async (status = '') => {
    const reply = await call('get', `/v1/reviews?tenant_id=${tenant_id}${status && `&status=${status}`}`);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body['items'] as readonly Readonly<Record<string, unknown>>[];
  };
  const balance = async () => (await call('get', `/v1/billing/balance/${tenant_id}`)).body;
  return { tenant_id, key, call, extract, extracted, needed, review, move, operation, listed, balance };
};
