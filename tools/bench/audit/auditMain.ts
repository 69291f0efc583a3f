import { copyFileSync, existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../../../engine/test/bench/measure.ts';
import { CLI } from '../../../test/support/program.ts';
import { writeTradingLog } from '../trades/tradingLog.ts';
import { auditedBy, type Audited } from './auditedBy.ts';

const { env } = process;
const events = Number(env['BENCH_EVENTS'] ?? 1_000_000);
const tenants = Number(env['BENCH_TENANTS'] ?? 1_000);
const rounds = Number(env['BENCH_ROUNDS'] ?? 3);
/** `cli.js` of another build, which is measured in turn with this one. */
const other = env['BENCH_CLI'];
const folder = env['BENCH_DIR'] ?? tmpdir();

/** Kept for the next run: a large log takes longer to write than to audit. */
const logPath = join(folder, `quire-audited-${events}-${tenants}.db`);
if (!existsSync(logPath)) {
  const written = await writeTradingLog({ path: logPath, events, tenants, seed: 20261123 }, () => undefined);
  console.log(`a log of ${written} events of ${tenants} tenants: ${logPath}`);
}

const dataDir = await mkdtemp(join(folder, 'quire-audit-'));
const builds = [
  ...(other === undefined ? [] : [['the other build', other] as const]),
  ['this build', CLI] as const,
];
const audits = new Map<string, Audited[]>(builds.map(([name]) => [name, []]));
try {
  copyFileSync(logPath, join(dataDir, 'events.db'));
  for (let round = 0; round < rounds; round += 1)
    for (const [name, cli] of builds) audits.get(name)?.push(await auditedBy(cli, dataDir));
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

const row = (all: readonly Audited[]) => {
  const of = (figure: (one: Audited) => number): number => median(all.map(figure));
  return {
    'events/s': Math.round(of((one) => one.events / one.seconds)),
    'CPU us an event': of((one) => (one.cpuMs / one.events) * 1000).toFixed(1),
    'memory at most, MB': Math.max(...all.map(({ mostMb }) => mostMb)).toFixed(0),
  };
};
console.table(Object.fromEntries([...audits].map(([name, all]) => [name, row(all)])));
const found = new Set([...audits.values()].flat().map(({ report }) => report));
if (found.size !== 1) throw new Error('the audits do not say the same');
console.log('Nothing is wrong, and every audit says the same.');
