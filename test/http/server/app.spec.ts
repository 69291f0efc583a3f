import { readYourWrites } from '../../../src/queries/queries.ts';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { memoryRateLimiter } from '../../../adapters/local/local.ts';
import { bytesInFlight } from '../../../src/commands/slots.ts';
import { CreditsOutOfRange } from '../../../domain/kernel/amounts.ts';
import { SqlUnavailable } from '../../../projections/engine/ports.ts';
import { httpApp } from '../../../src/server/app.ts';
import { authenticator } from '../../../src/server/keys.ts';
import { routesOver, type ServedRoute } from '../../../src/server/routes.ts';
import { httpMetrics } from '../../../src/server/metrics.ts';
import { DEFAULT_BUCKETS } from '../../../src/server/limits.ts';
import { listen, type HttpServer } from '../../../src/server/connections.ts';
import { until } from '../../../engine/test/support/until.ts';

const ADMIN = 'the-admin-key-of-this-spec-alone';

const NO_READS = readYourWrites({ waitFor: () => Promise.resolve(true) });

const { post } = routesOver<undefined>();

const route = (operationId: string, handle: () => Promise<{ ok: boolean }>): ServedRoute => ({
  ...post(
    `/v1/${operationId}`,
    {
      summary: operationId,
      access: 'any',
      body: z.strictObject({ api_key: z.string().optional() }),
      reply: { status: 200, schema: z.strictObject({ ok: z.boolean() }) },
    },
    handle,
  ),
  operationId,
  tag: 'Spec',
});

describe('the HTTP application', () => {
  const lines: Record<string, unknown>[] = [];
  let server: HttpServer;

  before(async () => {
    const logger = pino(
      { base: null },
      { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) },
    );
    const never = () => Promise.reject(new Error('not in this spec'));
    const app = httpApp({
      sessions: { isSentBy: () => false, callerOf: never },
      reads: NO_READS,
      routes: [
        route('fine', () => Promise.resolve({ ok: true })),
        route('defect', () => Promise.reject(new TypeError('a secret detail'))),
        route('total', () => Promise.reject(new CreditsOutOfRange('a total'))),
        route('same_text', () => Promise.reject(new RangeError('1 is not a safe whole number of credits'))),
        route('same_name', () => Promise.reject(Object.assign(new Error('x'), { name: 'SqlUnavailable' }))),
        route('outage', () => Promise.reject(new SqlUnavailable('the database is away'))),
      ],
      logger,
      metrics: httpMetrics(new Registry()),
      keys: authenticator({
        lookup: () => Promise.resolve(undefined),
        isWellFormed: () => false,
        adminKey: ADMIN,
        nowMs: () => 0,
        monotonicMs: () => 0,
      }),
      limits: { limiter: memoryRateLimiter(() => 0), bucketsOf: () => Promise.resolve(DEFAULT_BUCKETS) },
      replays: { begin: never, renew: never, complete: never, abandon: never, forget: never, purge: never },
      uploads: { dir: '/nowhere', bytesMax: 1, inFlight: bytesInFlight(1) },
      clock: { now: () => '2026-01-01T00:00:00.000Z', newId: (prefix) => `${prefix}_1`, uuid: randomUUID },
      isDraining: () => false,
    });
    server = await listen(app, { host: '127.0.0.1', port: 0 });
  });
  after(() => server.close());

  const post = async (path: string, body = '{}') => {
    const reply = await fetch(`${server.url}/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': ADMIN },
      body,
    });
    return (await reply.json()) as Record<string, unknown>;
  };
  /** The line of a request is written when its connection is done with it. */
  const lineOf = (requestId: unknown): Promise<Record<string, unknown>> =>
    until(() => lines.find(({ msg, request_id }) => msg === 'request' && request_id === requestId));

  it('tells a caller nothing about a defect, and logs it once', async () => {
    const body = await post('defect');
    expect(body).to.include({ status: 500, code: 'internal_error' });
    expect(JSON.stringify(body)).to.not.include('secret');
    const errors = lines.filter(({ request_id, level }) => request_id === body['request_id'] && level === 50);
    expect(errors).to.have.lengthOf(1);
  });

  it('logs no error for what a caller did wrong', async () => {
    const body = await post('total');
    expect(body).to.include({ status: 422, code: 'validation_error' });
    await lineOf(body['request_id']);
    const errors = lines.filter(({ request_id, level }) => request_id === body['request_id'] && level === 50);
    expect(errors).to.deep.equal([]);
  });

  it('tells failures by their class, not by name or text', async () => {
    expect(await post('same_text')).to.include({ status: 500, code: 'internal_error' });
    expect(await post('same_name')).to.include({ status: 500, code: 'internal_error' });
  });

  it('is not ready while a part is away', async () => {
    expect(await post('outage')).to.include({ status: 503, code: 'not_ready' });
  });

  it('logs one line a request, without key or body', async () => {
    const body = await post('fine', '{"unknown":"sk-very-secret"}');
    const line = await lineOf(body['request_id']);
    expect(line).to.include({
      method: 'POST',
      route: 'fine',
      status: 422,
      code: 'validation_error',
      tenant_id: 'quire:admin',
      key_id: 'key_bootstrap',
    });
    const text = JSON.stringify(lines);
    expect(text).to.not.include(ADMIN).and.to.not.include('sk-very-secret');
  });

  it('goes on with a connection after it refused what was sent on it', async () => {
    const answers = await new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(server.url);
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.split('HTTP/1.1').length === 3) socket.end(() => resolve(text));
      });
      socket.once('error', reject);
      const head = `POST /v1/fine HTTP/1.1\r\nhost: x\r\nx-api-key: ${ADMIN}\r\n`;
      const large = `${head}content-type: application/json\r\ncontent-length: 2000000\r\n\r\n${'x'.repeat(2_000_000)}`;
      socket.write(`${large}${head}content-type: application/json\r\ncontent-length: 2\r\n\r\n{}`);
    });
    expect(answers)
      .to.match(/^HTTP\/1\.1 413/)
      .and.to.include('HTTP/1.1 200');
  });
});
