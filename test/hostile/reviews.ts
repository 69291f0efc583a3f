import { setTimeout as pause } from 'node:timers/promises';

/** A request that is sent to do harm, and what it is. */
export interface HostileRequest {
  readonly what: string;
  readonly send: () => Promise<Response>;
}

/** Rows of the reviewed table: as many values as a body may have, and each of them is in doubt. */
const ROWS = 12_000;
const NUMBER = { type: 'integer' };
const ITEMS = { type: 'object', properties: { code: NUMBER, amount: NUMBER } };
const SCHEMA = { type: 'object', properties: { rows: { type: 'array', items: ITEMS } } };

const rowsOf = (more: number) =>
  Array.from({ length: ROWS }, (_, at) => ({ code: 1_000 + (at % 9_000), amount: (at % 97) + more }));
/** A set of a megabyte: an example has 20,000 values at most, a body 50,000. */
const SET_DOCUMENTS = 5;
const SET_ROWS = 2_400;
const longRowsOf = (more: number) =>
  Array.from({ length: SET_ROWS }, (_, at) => ({ code: at, amount: at + more, note: 'x'.repeat(30) }));

const csvOf = (rows: ReturnType<typeof rowsOf>): string =>
  `code,amount\n${rows.map(({ code, amount }) => `${String(code)},${String(amount)}\n`).join('')}`;

/** What the requests are sent to, and by whom. */
interface Sender {
  readonly url: string;
  readonly key: string;
  readonly tenant_id: string;
}

const calling =
  ({ url, key }: Sender) =>
  (method: string, path: string, json?: object): Promise<Response> =>
    fetch(`${url}${path}`, {
      method,
      headers: { 'x-api-key': key, ...(json && { 'content-type': 'application/json' }) },
      ...(json && { body: JSON.stringify(json) }),
    });
type Call = ReturnType<typeof calling>;

const jsonOf = async (answer: Response): Promise<Readonly<Record<string, unknown>>> =>
  (await answer.json()) as Readonly<Record<string, unknown>>;

/** An operation whose result a person has to look at, all of it and each of its values. */
const needsReview = async ({ url, key, tenant_id }: Sender, call: Call) => {
  const form = new FormData();
  const fields = { tenant_id, schema: JSON.stringify(SCHEMA), review: '{"below": 1, "sample": 1}' };
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob([csvOf(rowsOf(0))], { type: 'text/csv' }), 'rows.csv');
  const headers = { 'x-api-key': key, prefer: 'respond-async' };
  const accepted = await jsonOf(await fetch(`${url}/v1/extract`, { method: 'POST', headers, body: form }));
  const operation = `/v1/operations/${String(accepted['operation_id'])}`;
  for (;;) {
    const { status, review_id, error } = await jsonOf(await call('GET', operation));
    if (status === 'needs_review') return { operation, review: `/v1/reviews/${String(review_id)}` };
    if (status === 'failed') throw new Error(`there is nothing to look at: ${JSON.stringify(error)}`);
    await pause(200);
  }
};

const uploaded = async ({ tenant_id }: Sender, call: Call): Promise<string> => {
  const json = { tenant_id, file_name: 'a.txt', content_type: 'text/plain' };
  const { upload_url, headers, document_id } = await jsonOf(await call('POST', '/v1/uploads/presign', json));
  const sent = { method: 'PUT', headers: headers as Record<string, string>, body: 'Total: 1' };
  await (await fetch(String(upload_url), sent)).arrayBuffer();
  return String(document_id);
};

/** Requests about a review of 12,000 rows, and sets of a megabyte: each route, with the most that it takes. */
export const hostileReviews = async (sender: Sender): Promise<readonly HostileRequest[]> => {
  const call = calling(sender);
  const { operation, review } = await needsReview(sender, call);
  const documents: string[] = [];
  while (documents.length < SET_DOCUMENTS) documents.push(await uploaded(sender, call));
  let turn = 0;
  const decision = (): object => ({ result: { rows: rowsOf((turn += 1)) } });
  const set = (): object => ({
    tenant_id: sender.tenant_id,
    examples: documents.map((document_id) => ({
      document_id,
      expected: { rows: longRowsOf((turn += 1)) },
    })),
  });
  const afresh = async (path: string, json: object): Promise<Response> => {
    await (await call('POST', `${review}/reopen`)).arrayBuffer();
    return call('POST', `${review}/${path}`, json);
  };
  return [
    { what: 'review of 12,000 rows: read', send: () => call('GET', review) },
    { what: 'review of 12,000 rows: lease', send: () => call('POST', `${review}/lease`) },
    { what: 'review of 12,000 rows: leave', send: () => call('DELETE', `${review}/lease`) },
    { what: 'review of 12,000 rows: reopen, decide', send: () => afresh('decision', decision()) },
    {
      what: 'set from decisions',
      send: () => call('POST', '/v1/evaluations/sets', { tenant_id: sender.tenant_id, from_decisions: {} }),
    },
    {
      what: 'review of 12,000 rows: reopen, decide what does not fit',
      send: () =>
        afresh('decision', { result: { rows: rowsOf(0).map(({ code }) => ({ code: String(code) })) } }),
    },
    { what: 'review of 12,000 rows: reopen, reject', send: () => afresh('reject', { reason: 'other' }) },
    { what: 'operation of 12,000 rows: read', send: () => call('GET', operation) },
    { what: 'set of a megabyte', send: () => call('POST', '/v1/evaluations/sets', set()) },
  ];
};
