import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { postgresSql } from '../../../adapters/postgres.ts';
import { EMPTY_DATABASE } from '../../bench/live.ts';
import { writeTradingLog } from '../../bench/trades/tradingLog.ts';
import type { Coefficients, ColdLoad } from '../simulation/coefficients.ts';
import { measureColdLoad, measureMemory, measureReadForward } from './measureAccounts.ts';
import { measureLog, measureProjections } from './measureHistory.ts';
import { measureHttp, measureStart } from './measureHttp.ts';
import { measureCommit, measureWriter } from './measureWriter.ts';
import { line, round } from './probes.ts';

/** What is measured, and where. */
export interface Measuring {
  /** The disk that is measured. */
  readonly folder: string;
  /** A PostgreSQL that is emptied. */
  readonly databaseUrl: string;
  readonly events: number;
  readonly tenants: number;
  /** The longest account that is loaded. */
  readonly coldMax: number;
  readonly seconds: number;
}

/** Processor time of a page, docs/reference/benchmarks.md: `npm run bench:documents` takes minutes. */
const PAGES = { text_ms: 11.9, scan_ms: 2_315 };

const coldLoads = async ({ folder, coldMax }: Measuring): Promise<readonly ColdLoad[]> => {
  const loads: ColdLoad[] = [];
  for (let size = 1_000; size <= coldMax; size *= 10)
    loads.push(await measureColdLoad(folder, 'hold and settle', size));
  for (let size = 1_000; size <= Math.min(coldMax, 100_000); size *= 10)
    loads.push(await measureColdLoad(folder, 'keyed charge', size));
  return loads;
};

const snapshotSizes = (loads: readonly ColdLoad[]): Coefficients['snapshot'] => {
  const saved = loads.filter(
    ({ kind, snapshot_bytes }) => kind === 'keyed charge' && snapshot_bytes !== null,
  );
  // An account without entries has next to nothing to save; larger ones than the bound are not saved at all.
  const points = saved.map(({ events, snapshot_bytes }) => [events, snapshot_bytes ?? 0] as const);
  const { fixed, each } = line([[0, 0], ...points]);
  return { bytes_small: Math.round(fixed), bytes_per_entry: Math.round(each) };
};

const emptied = async (databaseUrl: string): Promise<void> => {
  const sql = postgresSql({ url: databaseUrl });
  await sql.script(EMPTY_DATABASE);
  await sql.close();
};

/** What the threads and the disk do: a minute, and it wants a machine that does nothing else. */
export const measureLive = async (
  { folder, seconds }: Measuring,
  fold_event_ms: number,
): Promise<Pick<Coefficients, 'writer' | 'commit'>> => {
  const commit = await measureCommit(folder);
  const writer = await measureWriter(folder, seconds);
  const read_ms = await measureReadForward(folder);
  return { writer: { ...writer, read_ms, fold_event_ms }, commit };
};

/** All the rest, in processor time and bytes; takes minutes. */
export const measureRest = async (
  of: Measuring,
  say: (line: string) => void,
): Promise<Omit<Coefficients, 'writer' | 'commit'>> => {
  const { folder, databaseUrl, events, tenants } = of;
  const path = join(folder, `quire-scale-${events}-${tenants}.db`);
  if (!existsSync(path)) {
    say(`writing ${events} events of ${tenants} tenants`);
    await writeTradingLog({ path, events, tenants, seed: 20261121 }, () => undefined);
  }
  say('memory');
  const memory = await measureMemory(folder);
  say('cold loads');
  const cold_load = await coldLoads(of);
  say('the log and its audit');
  const log = await measureLog(path);
  say('HTTP');
  await emptied(databaseUrl);
  const http = await measureHttp(folder, databaseUrl);
  await emptied(databaseUrl);
  const empty = await measureStart(folder, databaseUrl, undefined);
  say('projections');
  const projections = await measureProjections(databaseUrl, path, { events: log.events, tenants });
  const with_log = await measureStart(folder, databaseUrl, path);
  return {
    measured_at: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores, Node ${process.versions.node}`,
    ...projections,
    http,
    pages: PAGES,
    log,
    memory,
    cold_load,
    snapshot: snapshotSizes(cold_load),
    start_cpu_ms: { empty, with_log, log_events: log.events },
  };
};

/** Processor time to fold one event, by the longest account that was loaded. */
export const foldEventMs = ({ cold_load }: Pick<Coefficients, 'cold_load'>): number => {
  const longest = cold_load.filter(({ kind }) => kind === 'hold and settle').at(-1);
  return round((longest?.from_log_ms ?? 0) / (longest?.events ?? 1));
};
