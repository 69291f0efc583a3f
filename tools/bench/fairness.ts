import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { epub } from '../../engine/test/support/bookFiles.ts';

/** A tenant of the service under test. */
export interface Tenant {
  readonly url: string;
  readonly tenant_id: string;
  readonly key: string;
  /** Ends what it waits for. */
  readonly signal: AbortSignal;
}

/** What one kind of request came to. */
export interface Seen {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
}

/** What a hostile tenant works with. */
interface Weapons {
  /** A PDF of scanned pages. */
  readonly scan: Uint8Array;
  /** Something to send again and again. */
  readonly large: Uint8Array;
}

const SCHEMA = {
  type: 'object',
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
};
const INVOICE = 'Invoice number: Q-1001\nDate: 2026-03-01\nCustomer: Acme GmbH\nTotal: 120.50 EUR\n';
const THINK_MS = 400;
const RETRY_MS = 250;

const send = ({ url, key, signal }: Tenant, path: string, body: FormData | object): Promise<Response> => {
  const isForm = body instanceof FormData;
  const headers = { 'x-api-key': key, ...(!isForm && { 'content-type': 'application/json' }) };
  const text = isForm ? body : JSON.stringify(body);
  return fetch(`${url}${path}`, { method: 'POST', headers, signal, body: text });
};

const formOf = (bytes: Uint8Array | string, name: string, fields: Readonly<Record<string, string>>) => {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  form.set('file', new Blob([typeof bytes === 'string' ? bytes : Buffer.from(bytes)]), name);
  return form;
};

/** Until it is delivered or the end has come: what is refused for now is sent again, as a client would. */
const delivered = async ({ signal }: Tenant, ask: () => Promise<Response>): Promise<void> => {
  while (!signal.aborted) {
    const answer = await ask();
    await answer.arrayBuffer();
    if (answer.status === 200) return;
    if (answer.status !== 503 && answer.status !== 429) throw new Error(`answered ${answer.status}`);
    await pause(RETRY_MS);
  }
};

/** One ordinary tenant: an extraction, a pause, an extraction. Gives how long each took, ms. */
export const ordinary = async (tenant: Tenant): Promise<readonly number[]> => {
  const latencies: number[] = [];
  const fields = { tenant_id: tenant.tenant_id, schema: JSON.stringify(SCHEMA), mode: 'fast' };
  while (!tenant.signal.aborted) {
    const began = performance.now();
    // What is cut off by the end counts with the time that it has waited.
    await delivered(tenant, () => send(tenant, '/v1/extract', formOf(INVOICE, 'a.txt', fields))).catch(
      (error: unknown) => {
        if (!tenant.signal.aborted) throw error;
      },
    );
    latencies.push(performance.now() - began);
    await pause(THINK_MS * (0.5 + ((latencies.length * 7) % 10) / 10));
  }
  return latencies;
};

const uploaded = async (tenant: Tenant, bytes: Uint8Array | string, file_name: string): Promise<string> => {
  const answer = await send(tenant, '/v1/uploads/presign', { tenant_id: tenant.tenant_id, file_name });
  const { upload_url, document_id } = (await answer.json()) as Record<string, string>;
  if (upload_url === undefined || document_id === undefined) return '';
  const put = await fetch(upload_url, { method: 'PUT', body: Buffer.from(bytes), signal: tenant.signal });
  await put.arrayBuffer();
  return document_id;
};

/** One way of taking more than one's share, until it is told to stop. */
type Attack = (tenant: Tenant, weapons: Weapons) => Promise<void>;

const again = async ({ signal }: Tenant, once: () => Promise<unknown>): Promise<void> => {
  while (!signal.aborted) {
    await once().catch(() => undefined);
    await pause(10);
  }
};

/** A request that is not over at the end is given up. */
const read = async (asked: Promise<Response>): Promise<number> => {
  const answer = await asked;
  await answer.arrayBuffer();
  if (answer.status !== 200) await pause(RETRY_MS);
  return answer.status;
};

const robustScans: Attack = (tenant, { scan }) => {
  const fields = { tenant_id: tenant.tenant_id, schema: JSON.stringify(SCHEMA), mode: 'robust' };
  return again(tenant, () => read(send(tenant, '/v1/extract', formOf(scan, 'scan.pdf', fields))));
};

const pageCounts: Attack = async (tenant, { scan }) => {
  const broken = scan.subarray(0, Math.floor(scan.length * 0.8));
  const ids = await Promise.all(
    Array.from({ length: 10 }, (_, n) => uploaded(tenant, n % 2 === 0 ? scan : broken, 'a.pdf')),
  );
  const named = ids.flatMap((document_id) => [
    { document_id },
    { file_uri: `quire://uploads/${document_id}` },
  ]);
  const documents = Array.from({ length: 4 }, () => named).flat();
  await again(tenant, () => read(send(tenant, '/v1/documents/page-count', { documents })));
};

const trainings: Attack = async (tenant, { scan }) => {
  const ids = await Promise.all(Array.from({ length: 6 }, () => uploaded(tenant, scan, 'a.pdf')));
  const examples = ids.map((document_id, n) => ({ document_id, expected: { total: n } }));
  const job = { tenant_id: tenant.tenant_id, schema: SCHEMA, mode: 'robust', examples };
  await again(tenant, async () => {
    await read(send(tenant, '/v1/training/jobs', job));
    await pause(1_000);
  });
};

const uploads: Attack = (tenant, { large }) => again(tenant, () => uploaded(tenant, large, 'large.pdf'));

/** A book whose spine names its one chapter so often. */
const repeatedBook = (often: number): Uint8Array => {
  const members = unzipSync(epub({ 'one.xhtml': `<p>${'Lorem ipsum. '.repeat(400)}</p>` }));
  const spine = '<itemref idref="i0"/>';
  const text = strFromU8(members['book/main.opf'] ?? new Uint8Array());
  return zipSync({ ...members, 'book/main.opf': strToU8(text.replace(spine, spine.repeat(often))) });
};

/** Batches of ten books that cost much to count, as many at once as a tenant may have. */
const batches: Attack = async (tenant) => {
  const book = repeatedBook(10_000);
  const ids = await Promise.all(Array.from({ length: 10 }, () => uploaded(tenant, book, 'a.epub')));
  const { tenant_id } = tenant;
  const batch = { tenant_id, document_ids: ids, schema: SCHEMA };
  await again(tenant, () => read(send(tenant, '/v1/batches', batch)));
};

const UNREAD = 150;
const LONG_TEXT = 'Lorem ipsum dolor sit amet.\n'.repeat(85_000);

/** Asks for an answer of five megabytes on many connections, and reads none of them. */
const unread: Attack = async (tenant) => {
  const { url, key, signal, tenant_id } = tenant;
  const headers = { 'x-api-key': key, prefer: 'respond-async' };
  const form = formOf(LONG_TEXT, 'long.txt', { tenant_id, conversion_mode: 'fast' });
  const accepted = await fetch(`${url}/v1/to-markdown`, { method: 'POST', headers, signal, body: form });
  const { operation_id = '' } = (await accepted.json()) as { readonly operation_id?: string };
  const path = `/v1/operations/${operation_id}`;
  const { host, hostname, port } = new URL(url);
  const reader = async (): Promise<void> => {
    const socket = connect({ port: Number(port), host: hostname });
    signal.addEventListener('abort', () => socket.destroy(), { once: true });
    socket.on('error', () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${key}\r\n\r\n`);
    await once(socket, 'data', { signal });
    socket.pause();
    // The service cuts it off some time; then it comes again.
    await once(socket, 'close', { signal });
  };
  await Promise.all(Array.from({ length: UNREAD }, () => again(tenant, reader)));
};

/** Six requests for scans, eight counts, a queue of trainings, four uploads, batches and readers at once. */
const ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  scans: Array.from({ length: 6 }, () => robustScans),
  counts: Array.from({ length: 8 }, () => pageCounts),
  trainings: [trainings],
  uploads: Array.from({ length: 4 }, () => uploads),
  batches: Array.from({ length: 5 }, () => batches),
  unread: [unread],
};

/**
 * Everything at once, with one key and within the rate limits that everybody has.
 * `BENCH_ATTACKS=scans,uploads` leaves the others out.
 */
export const hostile = async (tenant: Tenant, weapons: Weapons): Promise<void> => {
  const kinds = process.env['BENCH_ATTACKS']?.split(',') ?? Object.keys(ATTACKS);
  const attacks = kinds.flatMap((kind) => ATTACKS[kind] ?? []);
  await Promise.all(attacks.map((attack) => attack(tenant, weapons).catch(() => undefined)));
};

export const seenOf = (latencies: readonly number[]): Seen => {
  const sorted = [...latencies].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return { requests: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), worstMs: at(1) };
};
