import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteEventLog, type SqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { account } from '../../domain/account/account.ts';
import { type AccountCommand, accountStream } from '../../domain/account/messages.ts';
import { accountCodec, accountWriter, type AccountWriter } from '../../src/writer/accountWriter.ts';
import { adjustment, charge, hold, settle } from '../../test/support/money/accountCommands.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import { START_CREDITS, timedBurns, type Contestant, type Load } from './contestant.ts';
import type { Run } from '../../engine/test/bench/measure.ts';

/** Projections that run beside the writer and are waited for when it stops. */
export interface ProjectionsBeside {
  /** Whether they reached the log's end within the time. */
  readonly caughtUp: (timeoutMs: number) => Promise<boolean>;
  readonly stop: () => Promise<void>;
}

export interface WriterBenchOptions {
  /** Where the log's file lies: the disk that is measured. */
  readonly folder: string;
  readonly projections?: (log: SqliteEventLog, folder: string) => Promise<ProjectionsBeside>;
}

const CATCH_UP_MS = 120_000;

type Burn = (writer: AccountWriter, tenant: string, key: string) => Promise<void>;

const done = async (writer: AccountWriter, command: AccountCommand): Promise<void> => {
  const { kind } = await writer.execute(command);
  if (kind !== 'done') throw new Error(`${command.type}: ${kind}`);
};

const keyedCharge: Burn = (writer, tenant, key) => done(writer, charge(tenant, 1, key));

const holdAndSettle: Burn = async (writer, tenant, key) => {
  await done(writer, hold(tenant, key, 1));
  await done(writer, settle(tenant, key, 1));
};

const run = async (options: WriterBenchOptions, burn: Burn, load: Load): Promise<Run & { note?: string }> => {
  const folder = mkdtempSync(join(options.folder, 'quire-burns-'));
  const log = openSqliteEventLog({ path: join(folder, 'events.db') });
  const projections = await options.projections?.(log, folder);
  const writer = accountWriter({ store: log });
  try {
    await Promise.all(
      Array.from({ length: load.tenants }, (_, n) => done(writer, adjustment(`t${n}`, START_CREDITS))),
    );
    const random = seededRandom(load.seed);
    let note = {};
    const result = await timedBurns(load, {
      once: (caller, turn) => burn(writer, `t${random.between(0, load.tenants - 1)}`, `k${caller}-${turn}`),
      ...(projections && {
        after: async () => {
          note = { note: await catchUp(projections) };
        },
      }),
    });
    await writer.close();
    await verify(log, load.tenants, result.done);
    return { ...result, ...note };
  } finally {
    await projections?.stop();
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

const catchUp = async ({ caughtUp }: ProjectionsBeside): Promise<string> => {
  const startedAt = performance.now();
  const reached = await caughtUp(CATCH_UP_MS);
  const ms = Math.round(performance.now() - startedAt);
  return reached ? `projections caught up ${ms} ms after` : `projections NOT caught up after ${ms} ms`;
};

/** Reads the log anew: balance = start − burns, each key once, one burn for each that was acknowledged. */
const verify = async (log: SqliteEventLog, tenants: number, acknowledged: number): Promise<void> => {
  const keys = new Set<string>();
  let burns = 0;
  for (let n = 0; n < tenants; n += 1) {
    const tenant = `t${n}`;
    let state = account.initialState;
    let burned = 0;
    for await (const recorded of log.read(accountStream(tenant))) {
      const event = accountCodec.decode(recorded);
      state = account.evolve(state, event);
      if (event.type !== 'CreditsBurned') continue;
      burned += event.data.credits;
      burns += 1;
      keys.add(`${tenant} ${event.data.idempotency_key ?? event.data.hold_id ?? ''}`);
    }
    if (state.balance !== START_CREDITS - burned || state.held !== 0)
      throw new Error(`${tenant}: ${state.balance} is not ${START_CREDITS} - ${burned}`);
  }
  if (burns !== acknowledged || keys.size !== burns)
    throw new Error(`${burns} burns under ${keys.size} keys for ${acknowledged} acknowledged`);
};

/** The account writer on the embedded log. */
export const writerContestants = (options: WriterBenchOptions): readonly Contestant[] => {
  const beside = options.projections === undefined ? '' : ' + projections';
  return [
    { name: `Quire: keyed charge${beside}`, run: (load) => run(options, keyedCharge, load) },
    { name: `Quire: hold + settle${beside}`, run: (load) => run(options, holdAndSettle, load) },
  ];
};
