import { readYourWrites } from '../../../src/queries/queries.ts';
import { randomUUID } from 'node:crypto';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import type { Express } from 'express';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { memoryRateLimiter } from '../../../adapters/local/local.ts';
import { seededRandom } from '../../../engine/test/support/random.ts';
import { bytesInFlight } from '../../../src/commands/slots.ts';
import { authenticator } from '../../../src/server/keys.ts';
import { routesOver, type ServedRoute } from '../../../src/server/routes.ts';
import { DEFAULT_BUCKETS } from '../../../src/server/limits.ts';
import { apiRoutes } from '../../../src/api/routes.ts';
import { httpApp } from '../../../src/server/app.ts';
import { expressMessages, listen, type HttpServer } from '../../../src/server/connections.ts';
import { httpMetrics } from '../../../src/server/metrics.ts';

const NO_READS = readYourWrites({ waitFor: () => Promise.resolve(true) });

const { remove, ...others } = routesOver<undefined>();
const METHODS = { ...others, delete: remove };

/** At the place of each route of the interface, one that tells its name and its path's parameters. */
const echoes = apiRoutes.map(({ method, path, rest, operationId, tag }): ServedRoute => {
  const route = METHODS[method](
    path,
    {
      summary: operationId,
      access: 'public',
      params: z.record(z.string(), z.string()),
      reply: { status: 200, schema: z.unknown() },
    },
    ({ params }) => Promise.resolve({ operationId, params }),
  );
  return { ...route, ...(rest !== undefined && { rest }), operationId, tag };
});

const app = (): Express => {
  const never = () => Promise.reject(new Error('not in this spec'));
  return httpApp({
    sessions: { isSentBy: () => false, callerOf: never },
    reads: NO_READS,
    routes: echoes,
    logger: pino({ enabled: false }),
    metrics: httpMetrics(new Registry()),
    keys: authenticator({
      lookup: never,
      isWellFormed: () => false,
      adminKey: undefined,
      nowMs: () => 0,
      monotonicMs: () => 0,
    }),
    limits: { limiter: memoryRateLimiter(() => 0), bucketsOf: () => Promise.resolve(DEFAULT_BUCKETS) },
    replays: { begin: never, renew: never, complete: never, abandon: never, forget: never, purge: never },
    uploads: { dir: '/nowhere', bytesMax: 1, inFlight: bytesInFlight(1) },
    clock: { now: () => '2026-01-01T00:00:00.000Z', newId: (prefix) => `${prefix}_1`, uuid: randomUUID },
    isDraining: () => false,
  });
};

const answerTo = (port: number, { method, path }: { readonly method: string; readonly path: string }) =>
  new Promise<unknown>((resolve, reject) => {
    const headers = { 'x-request-id': 'the-same' };
    request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
      const { date: _, ...told } = answer.headers;
      const { statusCode } = answer;
      buffer(answer).then((body) => resolve({ statusCode, told, body: body.toString() }), reject);
    })
      .once('error', reject)
      .end();
  });

describe('requests and answers that are Express’s from their birth', () => {
  let served: HttpServer;
  let plain: Server;
  before(async () => {
    served = await listen(app(), { host: '127.0.0.1', port: 0 });
    const bare = app();
    plain = createServer((req, res) => {
      bare(req, res);
    });
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    plain.close();
    await served.close();
  });

  it('have the prototypes that Express would give them', () => {
    const own = app();
    const { request: before } = own;
    const { IncomingMessage, ServerResponse } = expressMessages(own);
    expect(IncomingMessage?.prototype).equal(own.request);
    expect(ServerResponse?.prototype).equal(own.response);
    expect(before).not.equal(own.request);
    expect(Object.getPrototypeOf(own.request)).equal(before);
  });

  it('are answered as those of a plain server, whatever the method and the path', async () => {
    const random = seededRandom(33);
    const SEGMENTS = ['t1', 'a%20b', 'a%2Fb', '%zz', '%', '%C3%A9', 'A.b:c', 'v1', 'a;b', ''];
    const ENDS = ['', '', '', '', '/', '//', '/more', '?a=1', '?', '/?a=%zz', '#'];
    const asked = Array.from({ length: 400 }, () => {
      const filled = random.pick(apiRoutes).path.replaceAll(/\{\w+\}/g, () => random.pick(SEGMENTS));
      const path = (random.between(0, 15) === 0 ? filled.toUpperCase() : filled) + random.pick(ENDS);
      return {
        method: random.pick(['GET', 'GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']),
        path,
      };
    });
    const ports = [Number(new URL(served.url).port), (plain.address() as AddressInfo).port];
    const statuses = new Set<unknown>();
    for (const { method, path } of asked) {
      const [ours, express] = await Promise.all(ports.map((port) => answerTo(port, { method, path })));
      expect(ours, `${method} ${path}`).deep.equal(express);
      statuses.add((ours as { statusCode: number }).statusCode);
    }
    expect([...statuses]).include.members([200, 404, 405, 422]);
  });
});
