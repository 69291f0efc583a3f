import { readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { expect } from 'chai';
import { startApi, type TestApi } from './support/testApi.ts';
import type { Example } from './examples/example.ts';
import { walkThrough } from './examples/walk.ts';
import { steady } from './examples/steady.ts';

const FILE = 'src/server/examples.json';

/** Operations that answer no JSON: their example would be a page. */
const WITHOUT = [
  ...['getDocs', 'getDocsAsset', 'getMetrics', 'getOpenApi', 'getProblemPage'],
  ...['finishOidc', 'startOidc', 'useSignInLink'],
];

describe('the examples of the reference', () => {
  let api: TestApi;
  let now: Readonly<Record<string, Example>>;
  before(async () => {
    api = await startApi({ FIELD_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') });
    now = steady(await walkThrough(api)) as Readonly<Record<string, Example>>;
    // `npm run docs:examples` writes what the service answers now.
    if (process.env['WRITE_EXAMPLES'] !== undefined)
      await writeFile(FILE, `${JSON.stringify(now, null, 2)}\n`);
  });
  after(() => api.stop());

  it('are what the service answers', async () => {
    expect(JSON.parse(await readFile(FILE, 'utf8'))).to.deep.equal(JSON.parse(JSON.stringify(now)));
  });

  it('show every operation that answers with data', () => {
    const shown = api.routes.map(({ operationId }) => operationId).filter((name) => !WITHOUT.includes(name));
    expect(Object.keys(now)).to.have.members(shown);
  });
});
