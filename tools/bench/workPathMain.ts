import { randomUUID } from 'node:crypto';
import { configFrom } from '../../src/config.ts';
import { startQuire } from '../../src/service/quire.ts';
import { ADMIN_KEY } from '../../test/support/serviceProcess.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { cpuSince } from '../../engine/test/bench/cpu.ts';
import { pathOf } from './workPath.ts';

const TENANT = 'path-1';
const RUNS = Number(process.env['BENCH_RUNS'] ?? 10);
/** Those whose CPU time is taken, without V8's count. */
const CPU_RUNS = Number(process.env['BENCH_CPU_RUNS'] ?? 50);
const SCHEMA = {
  type: 'object',
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
};
const INVOICE = 'Invoice number: Q-1001\nDate: 2026-01-31\nTotal: 119.00 EUR\n';

const folder = tempFolder();
const quire = await startQuire(
  configFrom({ DATA_DIR: folder.path, PORT: '0', ADMIN_API_KEY: ADMIN_KEY, LOG_LEVEL: 'silent' }),
);

const asked = async (
  path: string,
  key: string,
  body: FormData | object,
): Promise<Record<string, unknown>> => {
  const form = body instanceof FormData;
  const response = await fetch(`${quire.url}${path}`, {
    method: 'POST',
    headers: {
      'x-api-key': key,
      'idempotency-key': randomUUID(),
      ...(!form && { 'content-type': 'application/json' }),
    },
    body: form ? body : JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return answer;
};

const extraction = async (key: string): Promise<void> => {
  const form = new FormData();
  form.set('schema', JSON.stringify(SCHEMA));
  form.set('mode', 'fast');
  form.set('file', new Blob([INVOICE], { type: 'text/plain' }), 'invoice.txt');
  const { cost } = (await asked('/v1/extract', key, form)) as { cost: { credits_used: number } };
  if (cost.credits_used === 0) throw new Error('the extraction was free: it should be paid for');
  // Waits until the read models have seen it.
  await fetch(`${quire.url}/v1/billing/balance/${TENANT}`, { headers: { 'x-api-key': key } });
};

try {
  await asked('/v1/admin/billing-config', ADMIN_KEY, { free_pages: 0 });
  const made = await asked('/v1/api-keys', ADMIN_KEY, { tenant_id: TENANT, role: 'tenant' });
  const key = String(made['key']);
  await asked(`/v1/admin/tenants/${TENANT}/adjust-credits`, ADMIN_KEY, { credits: 1000, reason: 'bench' });
  // A fast machine does more of them in a second than a tenant may ask for.
  await fetch(`${quire.url}/v1/admin/tenants/${TENANT}/rate-limits`, {
    method: 'PUT',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ heavy: { rate_per_second: 10_000, burst: 10_000 } }),
  });
  // The first one opens what later ones find open.
  await extraction(key);
  const spent = cpuSince([process.pid]);
  for (let run = 0; run < CPU_RUNS; run += 1) await extraction(key);
  const cpuMs = spent() / CPU_RUNS;
  const files = await pathOf(() => extraction(key), RUNS);
  const functions = files.reduce((sum, file) => sum + file.functions.length, 0);
  for (const file of files) console.log(`${file.file.replace(/\.js$/, '.ts')}: ${file.functions.join(', ')}`);
  const rooms = new Map<string, { files: number; functions: number }>();
  for (const { file, functions: called } of files) {
    const room = file.split('/').slice(0, 2).join('/');
    const sum = rooms.get(room) ?? { files: 0, functions: 0 };
    rooms.set(room, { files: sum.files + 1, functions: sum.functions + called.length });
  }
  console.table(Object.fromEntries(rooms));
  console.log(
    "one paid extraction and the balance after it, in the service's own process: " +
      `${files.length} files, ${functions} functions`,
  );
  console.log(
    `CPU of the service, its readers and the caller, one at a time: ${cpuMs.toFixed(1)} ms an extraction`,
  );
} finally {
  await quire.stop();
  folder.remove();
}
