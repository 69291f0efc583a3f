import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Examples } from '../../src/server/openapi.ts';
import { apiRoutes } from '../../src/api/routes.ts';
import { EXAMPLES_FILE, examplesNow } from './examples/walk.ts';

/** Operations that answer no JSON: their example would be a page. */
const WITHOUT = [
  'getDocs',
  'getDocsAsset',
  'getMetrics',
  'getOpenApi',
  'getProblemPage',
  'finishOidc',
  'startOidc',
  'useSignInLink',
];

describe('the examples of the reference', () => {
  let now: Examples;
  before(async () => {
    now = await examplesNow();
  });

  it('are what the service answers; otherwise run npm run generate', async () => {
    expect(JSON.parse(await readFile(EXAMPLES_FILE, 'utf8'))).to.deep.equal(JSON.parse(JSON.stringify(now)));
  });

  it('show every operation that answers with data', () => {
    const shown = apiRoutes.map(({ operationId }) => operationId).filter((name) => !WITHOUT.includes(name));
    expect(Object.keys(now)).to.have.members(shown);
  });
});
