import { expect } from 'chai';
import { encryptedPdf, plainPdf } from '../../../engine/test/support/pdfs.ts';
import { formOf, INVOICE, INVOICE_SCHEMA } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

const blob = (bytes: Uint8Array | string) =>
  new Blob([typeof bytes === 'string' ? bytes : Buffer.from(bytes)]);
const whole = plainPdf(['Invoice number: Q-1']);

/** Files that cost only their own request, and what each of them is answered with. */
const HOSTILE: readonly (readonly [string, Blob, string])[] = [
  ['an empty file', blob(''), 'empty_file'],
  ['an encrypted PDF', blob(encryptedPdf('secret')), 'unreadable_file'],
  ['a PDF cut off in its middle', blob(whole.subarray(0, Math.floor(whole.length / 2))), 'unreadable_file'],
  [
    'random bytes with the head of a PDF',
    blob(Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(5_000, 0xa7)])),
    'unreadable_file',
  ],
  ['bytes of no format', blob(Buffer.from([0, 1, 2, 3, 255, 254, 0, 0, 9, 0])), 'unsupported_file_type'],
  ['more pages than a call may have', blob('word '.repeat(90_000)), 'too_many_pages'],
  ['a file above the upload limit', blob(Buffer.alloc(1_200_000, 0x61)), 'file_too_large'],
];

describe('hostile files', () => {
  let api: TestApi;
  let key: string;
  before(async () => {
    api = await testApi();
    key = await api.newKey('hostile-1');
    await api.newKey('other-1');
  });

  /** Asks for another tenant's balance until told to stop; gives every status that came back. */
  const askMeanwhile = (until: () => boolean) => {
    const statuses: number[] = [];
    const ask = async () => {
      while (!until()) statuses.push((await api.call('get', '/v1/billing/balance/other-1')).status);
      return statuses;
    };
    return ask();
  };

  for (const [name, file, code] of HOSTILE)
    it(`${name} costs its own request alone: ${code}`, async () => {
      let over = false;
      const meanwhile = askMeanwhile(() => over);
      const reply = await api.call('post', '/v1/extract', {
        key,
        form: formOf({ schema: INVOICE_SCHEMA }, file),
      });
      over = true;
      const statuses = await meanwhile;
      expect(reply.code, reply.text).to.equal(code);
      expect(new Set(statuses)).to.deep.equal(new Set([200]));
    });

  it('nothing was billed or left held for any of them, and a good file is served next', async () => {
    const before = (await api.call('get', '/v1/billing/balance/hostile-1')).body;
    expect(before).to.include({ free_pages_remaining: 50, held_credits: 0, total_credits_used: 0 });
    const reply = await api.call('post', '/v1/extract', {
      key,
      form: formOf({ schema: INVOICE_SCHEMA }, INVOICE),
    });
    expect(reply.status, reply.text).to.equal(200);
    const after = (await api.call('get', '/v1/billing/balance/hostile-1')).body;
    expect(after).to.include({ free_pages_remaining: 49, held_credits: 0 });
  });
});
