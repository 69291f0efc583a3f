import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSqliteEventLog } from '../../../../adapters/sqlite/eventLog.ts';
import { reviewIdOf } from '../../../../domain/review.ts';
import { seededRandom, type Random } from '../../../../engine/test/support/random.ts';
import { tempFolder } from '../../../../engine/test/support/tempFolder.ts';
import { until } from '../../../../engine/test/support/until.ts';
import { runCommand } from '../../../support/quireCommand.ts';
import { startService, type ServiceProcess } from '../../../support/serviceProcess.ts';
import { client, formOf, type CallOptions, type Client, type Reply } from '../../support/client.ts';
import { presigned, put } from '../uploads.suite.ts';

const KILLS = Number(process.env['KILLS'] ?? 10);
/** The latest moment of a kill after the process is healthy, ms; where starts take longer, as long as they take. */
const LATEST_MS = 1_500;
const MEASURED_EVERY = 5;
const TENANT = 'killed-reviews';
const SCHEMA = {
  type: 'object',
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
};
const SEED = Number(process.env['SEED'] ?? randomInt(1, 1e9));

const textOf = (name: string): string => `Invoice number: ${name}\nTotal: 10.00 EUR\n`;

/** A decision that was sent; the same one is sent until it is answered. */
interface Sent {
  readonly review_id: string;
  readonly result: Readonly<Record<string, unknown>>;
  isAnswered: boolean;
}

const NAMES = ['E-1', 'E-2', 'E-3'];

/** A tenant that asks, decides and measures; `at` is the process that is asked now. */
const openTenant = async (at: { api: Client }) => {
  const key = await at.api.newKey(TENANT);
  await at.api.sell(TENANT, 100_000);
  const surely = async (method: 'get' | 'post', path: string, options: CallOptions = {}) => {
    const reply = await at.api.call(method, path, { key, ...options });
    expect(reply.status, reply.text).to.be.below(300);
    return reply.body;
  };
  const upload = async (name: string): Promise<string> => {
    const json = { tenant_id: TENANT, file_name: `${name}.txt`, content_type: 'text/plain' };
    const made = presigned(await at.api.call('post', '/v1/uploads/presign', { key, json }));
    expect((await put(made.url, textOf(name), made.headers)).status).to.equal(200);
    return made.document_id;
  };
  const examples: object[] = [];
  for (const name of NAMES)
    examples.push({ document_id: await upload(name), expected: { invoice_number: name, total: 10 } });
  const { set_id } = await surely('post', '/v1/evaluations/sets', { json: { examples } });
  /** undefined: the answer was lost with its process. */
  const call = async (path: string, options: CallOptions = {}): Promise<Reply | undefined> => {
    const reply = await at.api
      .call(options.json || options.form ? 'post' : 'get', path, { key, ...options })
      .catch(() => undefined);
    return reply === undefined || reply.status >= 500 ? undefined : reply;
  };
  return { set_id: String(set_id), surely, call };
};
type Tenant = Awaited<ReturnType<typeof openTenant>>;

/** What a tenant wants, whatever happens to the process: each with its key, so that it may be sent again. */
const wishesOf = ({ set_id, call }: Tenant) => {
  const operations = new Map<string, string>();
  const runs = new Map<string, string>();
  const sent = new Map<string, Sent>();
  const ask = async (name: string): Promise<void> => {
    const fields = { schema: JSON.stringify(SCHEMA), mode: 'fast', review: '{"sample": 1}' };
    const headers = { prefer: 'respond-async', 'Idempotency-Key': name };
    const form = formOf(fields, new Blob([textOf(name)], { type: 'text/plain' }), `${name}.txt`);
    const reply = await call('/v1/extract', { form, headers });
    if (reply !== undefined) operations.set(name, String(reply.body['operation_id']));
  };
  const measure = async (name: string): Promise<void> => {
    const json = { set_id, schema: SCHEMA, mode: 'fast' };
    const reply = await call('/v1/evaluations/runs', { json, headers: { 'Idempotency-Key': name } });
    if (reply !== undefined) runs.set(name, String(reply.body['run_id']));
  };
  const decide = async (one: Sent): Promise<void> => {
    const reply = await call(`/v1/reviews/${one.review_id}/decision`, { json: { result: one.result } });
    if (reply === undefined) return;
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.body['result']).to.deep.equal(one.result);
    one.isAnswered = true;
  };
  const lookAtOpen = async (): Promise<void> => {
    for (const one of sent.values()) if (!one.isAnswered) await decide(one);
    const open = await call(`/v1/reviews?tenant_id=${TENANT}&status=open`);
    for (const { review_id } of (open?.body['items'] ?? []) as readonly Pick<Sent, 'review_id'>[]) {
      if (sent.has(review_id)) continue;
      const result = { invoice_number: `said of ${review_id}`, total: sent.size };
      const one: Sent = { review_id, result, isAnswered: false };
      sent.set(review_id, one);
      await decide(one);
    }
  };
  /** What is wanted in each life of the process. */
  const wish = async (life: number): Promise<void> => {
    if (!operations.has(`R-${String(life)}`)) await ask(`R-${String(life)}`);
    if (life % MEASURED_EVERY === 0 && !runs.has(`M-${String(life)}`)) await measure(`M-${String(life)}`);
    await lookAtOpen();
  };
  const isAllDecided = (): boolean =>
    [...sent.values()].filter(({ isAnswered }) => isAnswered).length === KILLS;
  return { operations, runs, sent, wish, lookAtOpen, isAllDecided };
};
type Wishes = ReturnType<typeof wishesOf>;

/** Everything is as it was said, and every document was billed once. */
const expectWell = async ({ surely }: Tenant, { operations, runs, sent }: Wishes): Promise<void> => {
  expect(new Set(operations.values()).size).to.equal(KILLS);
  for (const id of operations.values()) {
    const operation = await surely('get', `/v1/operations/${id}`);
    expect(operation, id).to.include({ status: 'succeeded' });
    const said = sent.get(reviewIdOf(id))?.result;
    expect((operation['result'] as Reply['body'])['result'], id).to.deep.equal(said);
  }
  for (const run_id of runs.values()) {
    const path = `/v1/evaluations/runs/${run_id}`;
    const isOver = async () => (await surely('get', path))['status'] === 'succeeded';
    await until(isOver, 500, 120_000);
    expect(await surely('get', path), run_id).to.include({ f1: 1 });
  }
  const path = `/v1/billing/balance/${TENANT}`;
  await until(async () => (await surely('get', path))['held_credits'] === 0, 200, 60_000);
};

/** How often an event stands in the log, by its type. */
const countedIn = async (dataDir: string): Promise<ReadonlyMap<string, number>> => {
  const audit = await runCommand({ DATA_DIR: dataDir }, 'audit');
  expect(audit.code, audit.out + audit.err).to.equal(0);
  const log = openSqliteEventLog({ path: join(dataDir, 'events.db'), readOnly: true });
  const counts = new Map<string, number>();
  for await (const item of log.subscribe({})) {
    if (item.kind === 'caught_up') break;
    if (item.kind === 'event') counts.set(item.event.type, (counts.get(item.event.type) ?? 0) + 1);
  }
  await log.close();
  return counts;
};

describe('reviews and runs of evaluations, whose process is killed', function () {
  this.timeout(900_000);
  const folder = tempFolder();
  let service: ServiceProcess;
  const at = { api: undefined as unknown as Client };
  const start = async (): Promise<void> => {
    service = await startService(folder.path);
    at.api = client(service.url);
  };
  before(start);
  after(async () => {
    await service.stop('SIGKILL');
    folder.remove();
  });

  const killed = async (wishes: Wishes, random: Random): Promise<void> => {
    for (let life = 0; life < KILLS; life += 1) {
      const going = wishes.wish(life);
      const latestMs = Math.max(LATEST_MS, Math.round(service.startedInMs));
      const killedAt = performance.now() + random.between(0, latestMs);
      await Promise.race([going, until(() => performance.now() >= killedAt)]);
      await service.stop('SIGKILL');
      await going;
      await start();
    }
  };

  it(`lose nothing, bill nothing twice and are decided once (seed ${String(SEED)})`, async () => {
    const tenant = await openTenant(at);
    const wishes = wishesOf(tenant);
    await killed(wishes, seededRandom(SEED));
    const lost = KILLS - wishes.operations.size;
    for (let life = 0; life < KILLS; life += 1) await wishes.wish(life);
    const isDone = async () => {
      await wishes.lookAtOpen();
      return wishes.isAllDecided();
    };
    await until(isDone, 500, 240_000);
    await expectWell(tenant, wishes);
    await service.stop('SIGTERM');
    const counts = await countedIn(folder.path);
    const documents = KILLS + NAMES.length * wishes.runs.size;
    console.log(
      `      ${String(KILLS)} kills, ${String(lost)} acceptances lost, ${String(documents)} documents`,
    );
    expect(counts.get('ReviewDecided')).to.equal(KILLS);
    expect(counts.get('CreditsBurned')).to.equal(documents);
    await start();
  });
});
