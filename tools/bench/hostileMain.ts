import { crc32, deflateSync } from 'node:zlib';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { encryptedPdf, pdfOf, plainPdf } from '../../engine/test/support/pdfs.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import { cpuSince } from '../../engine/test/bench/cpu.ts';
import {
  attacksBySchema,
  attacksByText,
  SCHEMA_ROUTES,
  TEXT_ROUTES,
  type Attack,
} from '../../test/hostile/attacks.ts';
import { startTarget } from '../../test/hostile/target.ts';
import { ADMIN_KEY, startService } from '../../test/support/serviceProcess.ts';
import { startWatched } from '../../test/hostile/watchedService.ts';
import { hostileReviews } from '../../test/hostile/reviews.ts';

/** A file that is sent to do harm, or that looks so. */
interface HostileFile {
  readonly what: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

const CONTENT_TYPES =
  '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override ' +
  'PartName="/word/document.xml" ' +
  'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>' +
  '</Types>';
const RELATIONS =
  '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
  '<Relationship Id="r1" ' +
  'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ' +
  'Target="word/document.xml"/></Relationships>';
const DOCUMENT =
  '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>';

const docx = (body: Uint8Array | string): Uint8Array =>
  zipSync(
    {
      '[Content_Types].xml': strToU8(CONTENT_TYPES),
      '_rels/.rels': strToU8(RELATIONS),
      'word/document.xml': typeof body === 'string' ? strToU8(body) : body,
    },
    { level: 6 },
  );

const pngPart = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body) >>> 0);
  return Buffer.concat([length, body, check]);
};

/** White, one bit a pixel: small as a file, 4 bytes a pixel where it is unpacked. */
const hugePng = (side: number): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.writeUInt8(1, 8);
  const rows = deflateSync(Buffer.alloc((Math.ceil(side / 8) + 1) * side), { level: 1 });
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngPart('IHDR', header),
    pngPart('IDAT', rows),
    pngPart('IEND', Buffer.alloc(0)),
  ]);
};

const entityBomb = (): string => {
  const levels = Array.from({ length: 12 }, (_, n) => n + 1);
  const entities = levels.map((n) => `<!ENTITY e${n} "${`&e${n - 1};`.repeat(10)}">`).join('');
  return (
    `<!DOCTYPE d [<!ENTITY e0 "lol">${entities}]>${DOCUMENT}<w:p><w:r><w:t>&e12;</w:t></w:r>` +
    '</w:p></w:body></w:document>'
  );
};

const nested = (depth: number): string =>
  `${DOCUMENT}${'<w:tbl><w:tr><w:tc>'.repeat(depth)}${'</w:tc></w:tr></w:tbl>'.repeat(depth)}</w:body></w:document>`;

/** Each form draws the next ten times: so many levels of it never end. */
const endlessPdf = (levels: number): Buffer => {
  const stream = (dictionary: string, content: string): string =>
    `<< ${dictionary} /Length ${content.length} >>\nstream\n${content}\nendstream`;
  const form = (resources: string, content: string): string =>
    stream(`/Type /XObject /Subtype /Form /BBox [0 0 400 200] /Resources << ${resources} >>`, content);
  const draw = '/X Do '.repeat(10);
  const first = 6;
  const forms = Array.from({ length: levels }, (_, n) =>
    form(`/XObject << /X ${first + n + 1} 0 R >>`, draw),
  );
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R /Resources << ' +
        `/XObject << /X ${first} 0 R >> >> >>`,
      stream('', draw),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      ...forms,
      form('', 'q Q'),
    ],
    '',
  );
};

const noise = (length: number): Uint8Array => {
  const random = seededRandom(1);
  return Uint8Array.from({ length }, () => random.between(0, 255));
};

/** Made anew in every run, the same each time. */
const hostileFiles = (): readonly HostileFile[] => {
  const whole = plainPdf(['Invoice number: Q-1', 'Total: 12.50 EUR']);
  const bomb = Buffer.alloc(300 * 1024 * 1024, 0x20);
  bomb.write(DOCUMENT);
  return [
    { what: 'zip bomb: 300 MiB of XML in a DOCX', name: 'bomb.docx', bytes: docx(bomb) },
    { what: 'pixel bomb: PNG of 40,000 × 40,000', name: 'bomb.png', bytes: hugePng(40_000) },
    { what: 'entity bomb: 10^12 expansions in a DOCX', name: 'lol.docx', bytes: docx(entityBomb()) },
    { what: 'deep nesting: 100,000 tables in tables, DOCX', name: 'deep.docx', bytes: docx(nested(100_000)) },
    { what: 'deep nesting: 100,000 quotes, Markdown', name: 'deep.md', bytes: strToU8('> '.repeat(100_000)) },
    { what: 'truncated PDF', name: 'cut.pdf', bytes: whole.subarray(0, whole.length / 2) },
    { what: 'encrypted PDF', name: 'locked.pdf', bytes: encryptedPdf('secret') },
    {
      what: '5,000 pages',
      name: 'long.pdf',
      bytes: plainPdf(Array.from({ length: 5_000 }, (_, n) => `page ${n}`)),
    },
    { what: 'wrong extension: a PDF named .docx', name: 'letter.docx', bytes: whole },
    {
      what: 'wrong extension: random bytes named .pdf',
      name: 'noise.pdf',
      bytes: noise(50_000),
    },
    { what: 'endless parse: 10^20 drawings in a PDF', name: 'endless.pdf', bytes: endlessPdf(20) },
  ];
};

/** What a hostile file cost, and what others noticed of it. */
interface Cost {
  readonly what: string;
  readonly status: number;
  readonly code: string;
  /** Of the slowest of its requests. */
  readonly seconds: number;
  /** At the most, of the service itself and of the processes that it reads files in, MiB. */
  readonly serviceMb: number;
  readonly readersMb: number;
  /** CPU milliseconds of the service and its readers for one of its requests; what others asked meanwhile is in it. */
  readonly cpuMs: number;
  readonly others: Others;
}

/** Requests of other callers meanwhile. */
interface Others {
  readonly requests: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
}

interface Service {
  readonly url: string;
  readonly pid: number;
}

const SCHEMA = JSON.stringify({
  type: 'object',
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
});
const CALLERS = 4;
const PAUSE_MS = 10;
const SAMPLE_MS = 25;
/** A file that is refused at once is sent again until so much time has passed. */
const LEAST_MS = 2_000;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const residentMb = (pid: string): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;

const parentOf = (pid: string): string | undefined => {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
};

/** Resident memory of the service and, summed, of its children; 0 where there is no /proc. */
const memoryOf = ({ pid }: Service): readonly [number, number] => {
  const children = readdirSync('/proc').filter((one) => /^\d+$/.test(one) && parentOf(one) === String(pid));
  return [residentMb(String(pid)), children.reduce((sum, child) => sum + residentMb(child), 0)];
};

const untilOver = async (isOver: () => boolean, step: () => Promise<void>): Promise<void> => {
  while (!isOver()) await step();
};

const statisticsOf = (latencies: number[], failed: number): Others => {
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? 0;
  return { requests: latencies.length, failed, p50Ms: at(0.5), p99Ms: at(0.99), worstMs: at(1) };
};

/** Undefined where the connection ended before an answer came. */
const statusOf = async (url: string, key: string): Promise<number | undefined> => {
  try {
    const answer = await fetch(url, { headers: { 'x-api-key': key } });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return undefined;
  }
};

/** What other callers see while `work` runs: each asks for a balance, waits a little, asks again. */
const besides = async <T>(
  { url }: Service,
  key: string,
  work: () => Promise<T>,
): Promise<readonly [T, Others]> => {
  const latencies: number[] = [];
  let [over, failed] = [false, 0];
  const ask = async (): Promise<void> => {
    const began = performance.now();
    const status = await statusOf(`${url}/v1/billing/balance/other`, key);
    latencies.push(performance.now() - began);
    if (status !== 200) failed += 1;
    await pause(PAUSE_MS);
  };
  // A file that took seconds to make let connections end: this process hears of it first.
  await pause(PAUSE_MS);
  const callers = Array.from({ length: CALLERS }, () => untilOver(() => over, ask));
  const result = await work().finally(() => (over = true));
  await Promise.all(callers);
  return [result, statisticsOf(latencies, failed)];
};

interface Answered {
  readonly status: number;
  readonly code: string;
  readonly ms: number;
}

const send = async ({ url }: Service, key: string, { name, bytes }: HostileFile): Promise<Answered> => {
  const form = new FormData();
  form.set('schema', SCHEMA);
  form.set('mode', 'fast');
  form.set('file', new Blob([Buffer.from(bytes)]), name);
  const began = performance.now();
  const answer = await fetch(`${url}/v1/extract`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  });
  const body = (await answer.json()) as { readonly code?: string; readonly status?: string };
  const ms = performance.now() - began;
  return { status: answer.status, code: body.code ?? body.status ?? '', ms };
};

/** The quiet before: what other callers see when nobody sends anything. */
const quiet = async (service: Service, key: string): Promise<Others> =>
  (await besides(service, key, () => pause(2 * LEAST_MS)))[1];

/** Something hostile, and how it is sent. */
interface Sent {
  readonly what: string;
  readonly send: () => Promise<Answered>;
}

/** Sends it, again if it is refused at once, and watches. */
const costOf = async (service: Service, otherKey: string, { what, send: once }: Sent): Promise<Cost> => {
  let [over, serviceMb, readersMb] = [false, 0, 0];
  const watching = untilOver(
    () => over,
    async () => {
      const [own, readers] = memoryOf(service);
      [serviceMb, readersMb] = [Math.max(serviceMb, own), Math.max(readersMb, readers)];
      await pause(SAMPLE_MS);
    },
  );
  const spent = cpuSince([service.pid]);
  const [answers, others] = await besides(service, otherKey, async () => {
    const began = performance.now();
    const all: Answered[] = [];
    do all.push(await once());
    while (performance.now() - began < LEAST_MS);
    return all;
  });
  const cpuMs = spent() / answers.length;
  over = true;
  await watching;
  const kinds = [...new Set(answers.map(({ code }) => code))];
  return {
    what,
    status: answers[0]?.status ?? 0,
    code: kinds.join(', '),
    seconds: Math.max(...answers.map(({ ms }) => ms)) / 1000,
    serviceMb,
    readersMb,
    cpuMs,
    others,
  };
};

type Admin = (method: string, path: string, body: unknown) => Promise<unknown>;

const adminOf =
  ({ url }: Service): Admin =>
  async (method, path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return answer.json();
  };

/** A key of a tenant without a limit of requests. */
const keyOf = async (admin: Admin, tenant_id: string, role: string): Promise<string> => {
  const { key } = (await admin('POST', '/v1/api-keys', { tenant_id, role })) as { readonly key: string };
  const limit = { rate_per_second: 10_000, burst: 10_000 };
  await admin('PUT', `/v1/admin/tenants/${tenant_id}/rate-limits`, { heavy: limit, general: limit });
  return key;
};

const seen = ({ requests, failed, p50Ms, p99Ms, worstMs }: Others) => ({
  'others: requests': requests,
  failed,
  'p50 ms': p50Ms.toFixed(1),
  'p99 ms': p99Ms.toFixed(1),
  'worst ms': worstMs.toFixed(0),
});
const row = ({ status, code, seconds, serviceMb, readersMb, cpuMs, others }: Cost) => ({
  status,
  code,
  s: seconds.toFixed(2),
  'CPU ms': Math.round(cpuMs),
  'service MiB': Math.round(serviceMb),
  'readers MiB': Math.round(readersMb),
  ...seen(others),
});

/** Requests about large reviews and sets: what others notice, and how long the main thread was held, ms of its CPU. */
const reviewCosts = async (): Promise<Readonly<Record<string, object>>> => {
  const dir = await mkdtemp(join(tmpdir(), 'quire-reviews-'));
  const watched = await startWatched(join(dir, 'data'));
  try {
    const admin = adminOf(watched);
    const [key, other] = [await keyOf(admin, 'sender', 'tenant'), await keyOf(admin, 'other', 'tenant')];
    const requests = await hostileReviews({ url: watched.url, key, tenant_id: 'sender' });
    await quiet(watched, other);
    const rows: Record<string, object> = { '(nobody sends anything)': seen(await quiet(watched, other)) };
    for (const { what, send: ask } of requests) {
      const once = async (): Promise<Answered> => {
        const began = performance.now();
        const answer = await ask();
        await answer.arrayBuffer();
        return { status: answer.status, code: String(answer.status), ms: performance.now() - began };
      };
      const cost = await costOf(watched, other, { what, send: once });
      rows[what] = { ...row(cost), 'held ms': Math.round(await watched.heldDuring(once)) };
    }
    return rows;
  } finally {
    await watched.stop('SIGTERM');
    await rm(dir, { recursive: true, force: true });
  }
};

/** By route: the longest that the main thread was held by one attack of the corpus, ms of its CPU, and which. */
const loopDelays = async (): Promise<Readonly<Record<string, object>>> => {
  const { service, target, stop } = await startTarget(await mkdtemp(join(tmpdir(), 'quire-delays-')));
  const worstOf = async (attacks: readonly Attack[]) => {
    let worst = { 'held ms': 0, by: '' };
    for (const { what, send } of attacks) {
      const ms = Math.round(await service.heldDuring(() => send(target)));
      if (ms > worst['held ms']) worst = { 'held ms': ms, by: what };
    }
    return { attacks: attacks.length, ...worst };
  };
  try {
    const rows: Record<string, object> = {};
    for (const [name, route] of Object.entries(SCHEMA_ROUTES))
      rows[`schemas: ${name}`] = await worstOf(attacksBySchema(route));
    for (const [name, route] of Object.entries(TEXT_ROUTES))
      rows[`texts: ${name}`] = await worstOf(attacksByText(route, true));
    return rows;
  } finally {
    await stop();
  }
};

/**
 * `BENCH_ONLY=bomb`: the files whose description contains it; `reviews`: large reviews and sets alone;
 * `exports`: CSV of a large ledger alone.
 */
const only = process.env['BENCH_ONLY'] ?? '';
const REVIEWS = 'reviews';
const EXPORTED = 'exports';

/** Files: gives whether all other callers were answered. */
const benchFiles = async (): Promise<boolean> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'quire-hostile-'));
  const service = await startService(dataDir);
  try {
    const admin = adminOf(service);
    const sender = await keyOf(admin, 'sender', 'service');
    const other = await keyOf(admin, 'other', 'tenant');
    const rows: Record<string, object> = {};
    await quiet(service, other);
    rows['(nobody sends anything)'] = seen(await quiet(service, other));
    const unlike: string[] = [];
    for (const file of hostileFiles().filter(({ what }) => what.includes(only))) {
      const cost = await costOf(service, other, { what: file.what, send: () => send(service, sender, file) });
      rows[cost.what] = row(cost);
      if (cost.others.failed > 0 || !service.isRunning()) unlike.push(cost.what);
    }
    console.table(rows);
    if (unlike.length > 0) console.log(`other callers were not answered during: ${unlike.join('; ')}`);
    return unlike.length === 0;
  } finally {
    await service.stop('SIGTERM');
    await rm(dataDir, { recursive: true, force: true });
  }
};

/** Postings of the tenant whose ledger is exported, and exports of it at once. */
const POSTINGS = 3_000;
const EXPORTS = 8;

/** Posts once; refused for the moment, it is posted again. */
const post = async (service: Service, reason: string): Promise<void> => {
  const answer = await fetch(`${service.url}/v1/admin/tenants/large/adjust-credits`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json', 'idempotency-key': reason },
    body: JSON.stringify({ credits: 1, reason }),
  });
  await answer.arrayBuffer();
  if (answer.ok) return;
  if (answer.status !== 429 && answer.status !== 503)
    throw new Error(`a posting was answered with ${answer.status}`);
  await pause(PAUSE_MS);
  await post(service, reason);
};

const posted = async (service: Service): Promise<void> => {
  for (let n = 0; n < POSTINGS; n += 50)
    await Promise.all(Array.from({ length: 50 }, (_, at) => post(service, `posting-${n + at}`)));
};

/** Exports of a large ledger as CSV: what a tenant that asks for balances notices of them. */
const exportCosts = async (): Promise<Readonly<Record<string, object>>> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'quire-exports-'));
  const service = await startService(dataDir);
  try {
    const other = await keyOf(adminOf(service), 'other', 'tenant');
    await posted(service);
    const once = async (): Promise<Answered> => {
      const began = performance.now();
      const answer = await fetch(`${service.url}/v1/admin/tenants/large/ledger`, {
        headers: { 'x-api-key': ADMIN_KEY, accept: 'text/csv' },
      });
      const lines = (await answer.text()).split('\r\n').length - 2;
      return { status: answer.status, code: `${lines} rows`, ms: performance.now() - began };
    };
    const together = async (): Promise<Answered> => {
      const all = await Promise.all(Array.from({ length: EXPORTS }, once));
      return { ...all[0]!, ms: Math.max(...all.map(({ ms }) => ms)) };
    };
    await quiet(service, other);
    return {
      '(nobody exports)': seen(await quiet(service, other)),
      'one export': row(await costOf(service, other, { what: 'one', send: once })),
      [`${EXPORTS} exports at once`]: row(await costOf(service, other, { what: 'many', send: together })),
    };
  } finally {
    await service.stop('SIGTERM');
    await rm(dataDir, { recursive: true, force: true });
  }
};

const PARTS: readonly string[] = [REVIEWS, EXPORTED];
const isAnswered = PARTS.includes(only) || (await benchFiles());
if (only === '') console.table(await loopDelays());
if (only === '' || only === REVIEWS) console.table(await reviewCosts());
if (only === '' || only === EXPORTED) console.table(await exportCosts());
process.exitCode = isAnswered ? 0 : 1;
