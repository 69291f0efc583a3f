import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { expect } from 'chai';
import fc from 'fast-check';
import { requestFingerprint } from '../../../src/server/request.ts';
import { holds } from '../../../engine/test/support/properties.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const of = (body: unknown): Promise<string> =>
  requestFingerprint({ path: undefined, query: undefined, body, sha256: undefined });

/** Bodies of about a megabyte, each hard in its own way. */
const LARGE: Readonly<Record<string, () => unknown>> = {
  'one object of 75,000 members': () =>
    Object.fromEntries(Array.from({ length: 75_000 }, (_, at) => [`m${String((at * 7_919) % 75_000)}`, at])),
  '300,000 lists': () => Array.from({ length: 300_000 }, () => []),
  '250,000 numbers': () => Array.from({ length: 250_000 }, (_, at) => at + 0.5),
};

/** How often others had their turn while `work` ran. */
const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
  let turns = 0;
  let isRunning = true;
  const turn = () => {
    turns += 1;
    if (isRunning) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isRunning = false;
  return turns;
};

describe('the digest of a request', () => {
  holds(
    'is that of its canonical JSON',
    fc.asyncProperty(fc.jsonValue(), async (body) => {
      expect(await of(body)).to.equal(sha256(canonicalize({ body }) ?? ''));
    }),
    0.1,
  );

  it('has secrets in it by their digests, wherever they stand', async () => {
    const within = (api_key: unknown) => of({ llm: [{ api_key }], ocr_api_key: 7 });
    expect(await within('sk-1')).to.equal(await within('sk-1'));
    expect(await within('sk-1')).to.not.equal(await within('sk-2'));
    const expected = canonicalize({ body: { llm: [{ api_key: sha256('sk-1') }], ocr_api_key: 7 } });
    expect(await within('sk-1')).to.equal(sha256(expected ?? ''));
  });

  it('does not mind white space and order in the schema of a form', async () => {
    const form = (schema: string) =>
      requestFingerprint({ path: undefined, query: undefined, form: { schema }, sha256: undefined });
    expect(await form('{"a":1,"b":[2]}')).to.equal(await form(' { "b" : [2], "a":1}'));
    expect(await form('{"a":1')).to.not.equal(await form('{"a":1 '));
  });

  for (const [what, make] of Object.entries(LARGE))
    it(`gives others their turn meanwhile: ${what}`, async () => {
      const body = make();
      let found = '';
      const turns = await turnsDuring(async () => {
        found = await of(body);
      });
      expect(turns).to.be.above(2);
      expect(found).to.equal(sha256(canonicalize({ body }) ?? ''));
    });
});
