import { join } from 'node:path';
import { mkdtempSync, rmSync } from 'node:fs';
import { prepareReadModels } from '../../projections/engine/registry.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { projectionRunner, type ProjectionRunner } from '../../projections/engine/runner.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { openProjecting, runnerInThread } from '../../src/parts/projecting.ts';
import { openSqliteEventLog, type SqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { systemTimers } from '../../adapters/local/local.ts';
import { postgresSql } from '../../adapters/postgres.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { accountWriter } from '../../src/writer/accountWriter.ts';
import { adjustment, charge } from '../../test/support/money/accountCommands.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import { cpuSince } from '../../engine/test/bench/cpu.ts';
import { sideProcesses, START_CREDITS } from './contestants.ts';

/** Embedded read models and what keeps them up with the log `events.db` in `folder`: one thread, as in the service. */
export const projectionsIn = async (
  folder: string,
): Promise<{ readonly sql: Sql; readonly runner: ProjectionRunner }> => {
  const { sql, projections } = await openProjecting(
    { folder: join(folder, 'read-models'), logFile: join(folder, 'events.db') },
    { diverged: 'leave', isTraced: false },
  );
  await prepareReadModels(sql, READ_MODELS);
  const nobody = { onApplied: () => undefined, notify: () => undefined };
  return { sql, runner: runnerInThread(projections, nobody) };
};

/** An open loop: burns come at a fixed rate, whether the ones before are answered or not. */
interface LiveLoad {
  readonly perSecond: number;
  readonly seconds: number;
  readonly tenants: number;
}

/** From a burn's durable answer to its row in every read model, ms. */
interface Visible {
  readonly burns: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
  /** A burn, of this process, that decides and projects, and of the database; missing where it cannot be told. */
  readonly cpuMs?: number;
}

const TICK_MS = 10;
/** Burns of the first second are not counted: everything is cold then. */
const WARM_UP_MS = 1_000;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

interface Place {
  readonly log: SqliteEventLog;
  readonly runner: ProjectionRunner;
  /** Undefined where they cannot be seen. */
  readonly processes: readonly number[] | undefined;
}

const measured = async ({ log, runner, processes }: Place, load: LiveLoad): Promise<Visible> => {
  const writer = accountWriter({ store: log });
  runner.start();
  const random = seededRandom(1);
  const waits: number[] = [];
  const fund = (_: unknown, n: number) => writer.execute(adjustment(`t${n}`, START_CREDITS));
  await Promise.all(Array.from({ length: load.tenants }, fund));

  const spent = processes && cpuSince(processes);
  const began = performance.now();
  const burn = async (serial: number) => {
    const outcome = await writer.execute(charge(`t${random.between(0, load.tenants - 1)}`, 1, `k${serial}`));
    const answeredAt = performance.now();
    if (outcome.kind !== 'done' || outcome.position === undefined) throw new Error('a burn was not done');
    if (!(await runner.waitFor(outcome.position, { timeoutMs: 30_000 }))) throw new Error('never visible');
    if (answeredAt - began > WARM_UP_MS) waits.push(performance.now() - answeredAt);
  };
  const burns: Promise<void>[] = [];
  while (performance.now() - began < load.seconds * 1000) {
    const due = Math.floor(((performance.now() - began) / 1000) * load.perSecond);
    while (burns.length < due) burns.push(burn(burns.length));
    await pause(TICK_MS);
  }
  await Promise.all(burns);
  const cpu = spent && { cpuMs: spent() / Math.max(1, burns.length) };
  await writer.close();
  await runner.stop();
  await log.close();
  waits.sort((a, b) => a - b);
  const at = (share: number) => waits[Math.floor((waits.length - 1) * share)] ?? 0;
  return { burns: burns.length, p50Ms: at(0.5), p99Ms: at(0.99), worstMs: at(1), ...cpu };
};

type OpenReadModels = (
  folder: string,
  log: SqliteEventLog,
) => Promise<{ readonly sql: Sql; readonly runner: ProjectionRunner }>;

/** The embedded database, and PostgreSQL where a URL is given (it is emptied). */
export const benchLive = async (
  load: LiveLoad,
  { folder: base, databaseUrl }: { readonly folder: string; readonly databaseUrl: string | undefined },
): Promise<Readonly<Record<string, Visible>>> => {
  const results: Record<string, Visible> = {};
  const run = async (name: string, url: string | undefined, open: OpenReadModels) => {
    const folder = mkdtempSync(join(base, 'quire-live-'));
    const log = openSqliteEventLog({ path: join(folder, 'events.db') });
    const { sql, runner } = await open(folder, log);
    const processes = await sideProcesses(process.pid, url);
    results[name] = await measured({ log, runner, processes }, load);
    await sql.close();
    rmSync(folder, { recursive: true, force: true });
  };
  await run('PGlite (embedded)', undefined, projectionsIn);
  if (databaseUrl === undefined) return results;
  await run('PostgreSQL', databaseUrl, async (_, feed) => {
    const sql = postgresSql({ url: databaseUrl });
    await sql.script(EMPTY_DATABASE);
    await prepareReadModels(sql, READ_MODELS);
    const deps = { sql, feed, projectors: READ_MODELS, decode: decodeAny, timers: systemTimers };
    return { sql, runner: projectionRunner(deps) };
  });
  return results;
};

/** Drops all read models and what is known of them. */
export const EMPTY_DATABASE = `
  drop schema if exists projections cascade; drop schema if exists read cascade;
  do $$ declare s text; begin
    for s in select nspname from pg_namespace where nspname like 'rm\\_%' loop
      execute format('drop schema %I cascade', s);
    end loop;
  end $$`;
