import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { formOf, INVOICE, type Client } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

const NAMES = ['constructor', 'toString', 'hasOwnProperty', '__proto__'];
/** As text: a literal would set the prototype. */
const members = (schema: string): string => NAMES.map((name) => `"${name}": ${schema}`).join(', ');
const object = (properties: string): string =>
  `{"type": "object", "properties": {${properties}}, "required": ${JSON.stringify(NAMES)}}`;

describe('a schema whose members are named as those every object has', () => {
  let api: TestApi;
  let key: string;
  before(async () => {
    api = await startApi({});
    key = await api.newKey(`any-${randomUUID()}`);
  });
  after(() => api.stop());

  const extract = (client: Client, fields: Readonly<Record<string, string>>) =>
    client.call('post', '/v1/extract', { key, form: formOf(fields, INVOICE) });
  const missed = (body: Readonly<Record<string, unknown>>): readonly unknown[] =>
    (body['validation_errors'] as { readonly path: string; readonly keyword: string }[])
      .filter(({ keyword }) => keyword === 'required')
      .map(({ path }) => path);

  it('is answered by 422 where the document does not say them, and names each', async () => {
    const reply = await extract(api, { schema: object(members('{"type": "string"}')) });
    expect(reply.status, reply.text).to.equal(422);
    expect(missed(reply.body)).to.have.members(NAMES.map((name) => `/${name}`));
  });

  it('has what the document says of them, in objects and lists too', async () => {
    const inner = object('"constructor": {"type": "number", "description": "Total"}');
    const rows = `{"type": "array", "items": ${object(members('{"type": "string"}'))}}`;
    const schema = `{"type": "object", "properties": {"__proto__": ${inner}, "toString": ${rows}}}`;
    const reply = await extract(api, { schema, allow_partial: 'true' });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.text).to.match(/"__proto__":\{"constructor":120\.5\}/u);
  });
});
