import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_KEY, startService } from '../../../test/support/serviceProcess.ts';
import { loopDelays } from './loopDelays.ts';
import { costOf, quiet, type Cost, type Others } from './hostile.ts';
import { hostileFiles } from './hostileFiles.ts';

/** `BENCH_ONLY=bomb`: the files whose description contains it. */
const only = process.env['BENCH_ONLY'] ?? '';
const dataDir = await mkdtemp(join(tmpdir(), 'quire-hostile-'));
const files = hostileFiles().filter(({ what }) => what.includes(only));
const service = await startService(dataDir);

const admin = async (method: string, path: string, body: unknown): Promise<unknown> => {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return answer.json();
};
const keyOf = async (tenant_id: string, role: string): Promise<string> => {
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

try {
  const keys = { sender: await keyOf('sender', 'service'), other: await keyOf('other', 'tenant') };
  const rows: Record<string, object> = {};
  await quiet(service, keys.other);
  rows['(nobody sends anything)'] = seen(await quiet(service, keys.other));
  const unlike: string[] = [];
  for (const file of files) {
    const cost = await costOf(service, keys, file);
    rows[cost.what] = row(cost);
    if (cost.others.failed > 0 || !service.isRunning()) unlike.push(cost.what);
  }
  console.table(rows);
  if (only === '') console.table(await loopDelays());
  if (unlike.length > 0) console.log(`other callers were not answered during: ${unlike.join('; ')}`);
  process.exitCode = unlike.length === 0 ? 0 : 1;
} finally {
  await service.stop('SIGTERM');
  await rm(dataDir, { recursive: true, force: true });
}
