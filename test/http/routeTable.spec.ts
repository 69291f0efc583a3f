import express from 'express';
import { expect } from 'chai';
import { apiRoutes } from '../../src/http/routes.ts';
import type { Route } from '../../src/http/defineRoute.ts';
import { routeTable } from '../../src/http/server/routeTable.ts';
import { listen } from '../../src/http/server/server.ts';
import { testApi } from './support/testApi.ts';

const route = (method: Route['method'], path: string, rest?: string) => ({
  method,
  path,
  ...(rest === undefined ? {} : { rest }),
});

const PLACES = [
  route('get', '/v1/items/new'),
  route('get', '/v1/items/{id}'),
  route('get', '/v2/{kind}/last'),
  route('get', '/v2/other/{name}'),
  route('post', '/v1/items'),
  route('get', '/v1/prices/known'),
  route('get', '/v1/prices/{name}', 'name'),
  route('delete', '/v1/items/{id}/parts/{part}'),
];

describe('the table of routes', () => {
  const find = routeTable(PLACES.map((place) => ({ route: place })));
  const found = (method: string, url: string) => {
    const match = find(method, url);
    return match && [match.entry.route.path, { ...match.params }];
  };

  it('finds a path by its literal text and its parameters', () => {
    expect(found('GET', '/v1/items/i-1')).to.deep.equal(['/v1/items/{id}', { id: 'i-1' }]);
    expect(found('POST', '/v1/items?a=/b')).to.deep.equal(['/v1/items', {}]);
    expect(found('DELETE', '/v1/items/a:b/parts/c@d')).to.deep.equal([
      '/v1/items/{id}/parts/{part}',
      { id: 'a:b', part: 'c@d' },
    ]);
  });

  it('prefers what was declared first', () => {
    expect(found('GET', '/v1/items/new')).to.deep.equal(['/v1/items/new', {}]);
    expect(found('GET', '/v2/other/last')).to.deep.equal(['/v2/{kind}/last', { kind: 'other' }]);
    expect(found('GET', '/v2/other/first')).to.deep.equal(['/v2/other/{name}', { name: 'first' }]);
  });

  it('answers HEAD as GET', () => {
    expect(found('HEAD', '/v1/items/new')).to.deep.equal(['/v1/items/new', {}]);
  });

  for (const [what, method, url] of [
    ['another method', 'PUT', '/v1/items'],
    ['another path', 'GET', '/v1/nothing'],
    ['an encoded segment', 'GET', '/v1/items/a%2Fb'],
    ['a slash at the end', 'GET', '/v1/items/new/'],
    ['an empty segment', 'GET', '/v1//new'],
    ['another case', 'GET', '/V1/items/new'],
    ['a fragment', 'GET', '/v1/items/new?a#b'],
    ['a whole URL', 'GET', 'http://host/v1/items/new'],
    ['a path that a parameter with slashes could mean', 'GET', '/v1/prices/known'],
    ['the root', 'GET', '/'],
  ] as const)
    it(`leaves ${what} to Express`, () => {
      expect(found(method, url)).to.equal(undefined);
    });

  it('finds for every route of the interface what Express finds', async () => {
    const routes = apiRoutes((await testApi()).deps);
    const table = routeTable(routes.map((one) => ({ route: one })));
    const app = express();
    app.set('case sensitive routing', true);
    for (const { method, path, rest, operationId } of routes) {
      const pattern = path.replaceAll(
        /\{(\w+)\}/g,
        (_, name: string) => `${name === rest ? '*' : ':'}${name}`,
      );
      app[method](pattern, ({ params }, res) => {
        res.json([operationId, { ...params }]);
      });
    }
    const server = await listen(app, { host: '127.0.0.1', port: 0 });
    let direct = 0;
    for (const { method, path } of routes)
      for (const value of ['acme', 'stats', 'quire:admin', '2026-01-01']) {
        const url = path.replaceAll(/\{\w+\}/g, value);
        const match = table(method.toUpperCase(), url);
        if (match === undefined) continue;
        const meant = await (await fetch(`${server.url}${url}`, { method })).json();
        expect([match.entry.route.operationId, { ...match.params }], url).to.deep.equal(meant);
        direct += 1;
      }
    await server.close();
    expect(direct).to.be.greaterThan(routes.length * 3);
  });
});
