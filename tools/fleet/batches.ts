import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ADMIN_KEY } from '../../test/support/serviceProcess.ts';
import { startUntilUp } from '../../test/support/fleet/processes.ts';
import type { Tenant } from '../crash/rounds.ts';
import type { Fleet } from './fleet.ts';

interface BatchRunOptions {
  readonly documents: number;
  /** A worker is killed and started again each time, ms. */
  readonly killEveryMs: number;
  /** Then the workers are left alone. */
  readonly killsMax: number;
  readonly onLook?: (batch: Batch, kills: number) => void;
}

interface Batch {
  readonly batch_id: string;
  readonly status: string;
  readonly documents: Readonly<Record<string, number>>;
  readonly pages_done: number;
  readonly credits_used: number;
}

interface Line {
  readonly index: number;
  readonly file_uri: string;
  readonly status: string;
  readonly result: { readonly result: { readonly number?: string } } | null;
  readonly cost: { readonly credits_used: number } | null;
}

/** What a batch came to. */
export interface BatchRun {
  readonly batch: Batch;
  readonly lines: readonly Line[];
  readonly kills: number;
  readonly seconds: number;
  /** What is wrong with it; none: each document was done once, billed once, and answered in its place. */
  readonly wrong: readonly string[];
}

const POLL_MS = 500;
const UPLOADS_AT_ONCE = 8;

type Call = (method: string, path: string, body?: unknown) => Promise<Response>;

const callsOf =
  (url: string, key: string): Call =>
  async (method, path, body) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': key, 'idempotency-key': randomUUID() };
    const answer = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };

const numberOf = (index: number): string => `Q-${String(index).padStart(6, '0')}`;

const uploaded = async (call: Call, tenant_id: string, index: number): Promise<string> => {
  const asked = { tenant_id, file_name: `${numberOf(index)}.txt`, content_type: 'text/plain' };
  const { upload_url, headers, file_uri } = (await (
    await call('POST', '/v1/uploads/presign', asked)
  ).json()) as {
    readonly upload_url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly file_uri: string;
  };
  const sent = await fetch(upload_url, {
    method: 'PUT',
    headers,
    body: `Number: ${numberOf(index)}\nTotal: 12.50 EUR\n`,
  });
  if (!sent.ok) throw new Error(`PUT of ${file_uri}: ${sent.status} ${await sent.text()}`);
  return file_uri;
};

const uploadedAll = async (call: Call, tenant: string, count: number): Promise<readonly string[]> => {
  const uris: string[] = [];
  for (let first = 0; first < count; first += UPLOADS_AT_ONCE) {
    const indexes = Array.from({ length: Math.min(UPLOADS_AT_ONCE, count - first) }, (_, at) => first + at);
    uris.push(...(await Promise.all(indexes.map((index) => uploaded(call, tenant, index)))));
  }
  return uris;
};

const batchOf = async (call: Call, batchId: string): Promise<Batch> =>
  (await (await call('GET', `/v1/batches/${batchId}`)).json()) as Batch;

/** Kills one worker after another, and starts each again, until `isOver`. Gives how many it killed. */
const killing = async (
  { workers, meant }: Fleet,
  { killEveryMs, killsMax }: BatchRunOptions,
  progress: { readonly isOver: () => boolean; readonly onKill: () => void },
): Promise<void> => {
  for (let kills = 0; kills < killsMax; kills += 1) {
    await pause(killEveryMs);
    const worker = workers[kills % workers.length];
    if (progress.isOver() || worker === undefined) return;
    meant.add(worker.name);
    await worker.kill('SIGKILL');
    progress.onKill();
    await startUntilUp(worker);
    meant.delete(worker.name);
  }
};

const wrongIn = (
  { batch, lines }: Pick<BatchRun, 'batch' | 'lines'>,
  uris: readonly string[],
  { sold, balance, uses }: { readonly sold: number; readonly balance: number; readonly uses: number },
): readonly string[] => {
  const wrong: string[] = [];
  const expect = (what: string, due: unknown, found: unknown): void => {
    if (due !== found) wrong.push(`${what}: ${String(due)} expected, ${String(found)} found`);
  };
  expect('lines of results', uris.length, lines.length);
  expect('documents that succeeded', uris.length, batch.documents['succeeded']);
  expect('pages', uris.length, batch.pages_done);
  for (const [at, { index, file_uri, status, result }] of lines.entries()) {
    expect(`index of line ${String(at)}`, at, index);
    expect(`document of line ${String(at)}`, uris[at], file_uri);
    expect(`status of ${String(at)}`, 'succeeded', status);
    expect(`number of ${String(at)}`, numberOf(at), result?.result.number);
  }
  const billed = lines.reduce((sum, { cost }) => sum + (cost?.credits_used ?? 0), 0);
  expect('credits of the batch', billed, batch.credits_used);
  expect('credits that are left', sold - billed, balance);
  expect('uses of the tenant', uris.length, uses);
  return wrong;
};

/** Uploads documents, sends them as one batch, and kills workers while it runs. */
export const runBatch = async (
  fleet: Fleet,
  { tenant, key }: Tenant,
  options: BatchRunOptions,
): Promise<BatchRun> => {
  const url = fleet.apis[0]?.url ?? '';
  const [call, admin] = [callsOf(url, key), callsOf(url, ADMIN_KEY)];
  const sold = options.documents * 1_000;
  await admin('POST', `/v1/admin/tenants/${tenant}/adjust-credits`, { credits: sold, reason: 'batch' });
  const file_uris = await uploadedAll(call, tenant, options.documents);
  const schema = { type: 'object', properties: { number: { type: 'string' } } };
  const began = performance.now();
  const accepted = (await (
    await call('POST', '/v1/batches', { file_uris, schema, mode: 'fast' })
  ).json()) as Batch;
  let [batch, kills] = [accepted, 0];
  const isOver = () => batch.status === 'ended';
  const killed = killing(fleet, options, { isOver, onKill: () => (kills += 1) });
  while (!isOver()) {
    await pause(POLL_MS);
    batch = await batchOf(call, accepted.batch_id);
    options.onLook?.(batch, kills);
  }
  const seconds = (performance.now() - began) / 1000;
  await killed;
  const text = await (await call('GET', `/v1/batches/${accepted.batch_id}/results`)).text();
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const books = (await (await call('GET', `/v1/billing/balance/${tenant}`)).json()) as {
    balance_credits: number;
  };
  const usage = (await (await call('GET', `/v1/billing/usage/${tenant}?limit=1`)).json()) as {
    total: number;
  };
  const wrong = wrongIn({ batch, lines }, file_uris, {
    sold,
    balance: books.balance_credits,
    uses: usage.total,
  });
  return { batch, lines, kills, seconds, wrong };
};
