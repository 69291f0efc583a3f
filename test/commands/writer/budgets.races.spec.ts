import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openEventStoreDb } from '../../../adapters/eventstoredb/eventStoreDb.ts';
import { budgetIn } from '../../../domain/account/budgetTotals.ts';
import { accountStream } from '../../../domain/account/messages.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import { accountCodec, accountWriter } from '../../../src/writer/accountWriter.ts';
import { budgetFindings } from '../../audit/budgetFindings.ts';
import { adjustment, charge, hold, metaOf, release, settle } from '../../support/money/accountCommands.ts';
import { startEsdbDouble } from '../../support/esdbDouble/esdbDouble.ts';
import { budget } from '../../support/money/moneyCommands.ts';
import { eventsOf, LOGS } from '../../support/logs/eventLogs.ts';

/** 200 by hand: `npm run spec -- test/commands/writer/budgets.races.spec.ts --rounds`. */
const ROUNDS = process.argv.includes('--rounds') ? 200 : 10;
/** Three processes start anew in each. */
const KILLED_ROUNDS = ROUNDS === 200 ? 100 : 2;
const [CALLS, WRITERS, ROOM, EACH] = [50, 3, 10, 40];

for (const { name, open } of LOGS)
  describe(`a budget under races, ${name}`, () => {
    for (const [how, take] of [
      ['holds', (t: string, n: number) => hold(t, `h${n}`, EACH)],
      ['charges', (t: string, n: number) => charge(t, EACH, `c${n}`)],
    ] as const)
      it(`lets ten of ${CALLS} ${how} at once over ${WRITERS} writers pass where ten fit, ${ROUNDS}×`, async () => {
        const log = await open();
        for (let round = 0; round < ROUNDS; round += 1) {
          const tenant = `t${round}`;
          const writers = Array.from({ length: WRITERS }, () =>
            accountWriter({ store: log.store, attemptsMax: 60 }),
          );
          const [first] = writers;
          await first!.execute(adjustment(tenant, 100_000));
          const data = { ...budget().data, tenant_id: tenant, limit_credits: asCredits(ROOM * EACH) };
          await first!.execute({ type: 'SetBudget', data, meta: metaOf() });
          const outcomes = await Promise.all(
            Array.from({ length: CALLS }, (_, n) => writers[n % WRITERS]!.execute(take(tenant, n))),
          );
          const kinds = outcomes.map((one) => (one.kind === 'rejected' ? one.rejection.code : one.kind));
          expect(kinds.filter((one) => one === 'done')).to.have.length(ROOM);
          expect(kinds.filter((one) => one === 'budget_reached')).to.have.length(CALLS - ROOM);
          const events = await eventsOf(log.store, accountStream(tenant));
          expect(budgetFindings(events)).to.deep.equal([]);
          const { budgets } = await writers[1]!.stateOf(tenant, 0);
          const { used = 0, held = 0 } = budgetIn(budgets, 'bgt_1') ?? {};
          expect(used + held).to.equal(ROOM * EACH);
        }
        await log.dispose();
      });

    it('is never passed while holds are settled and given back, and its log is what an auditor derives', async () => {
      const log = await open();
      const writers = Array.from({ length: WRITERS }, () =>
        accountWriter({ store: log.store, attemptsMax: 60 }),
      );
      await writers[0]!.execute(adjustment('t', 100_000));
      const data = { ...budget().data, tenant_id: 't', limit_credits: asCredits(ROOM * EACH) };
      await writers[0]!.execute({ type: 'SetBudget', data, meta: metaOf() });
      await Promise.all(
        Array.from({ length: 60 }, async (_, n) => {
          const writer = writers[n % WRITERS]!;
          const held = await writer.execute(hold('t', `h${n}`, EACH));
          if (held.kind !== 'done') return;
          const other = writers[(n + 1) % WRITERS]!;
          await other.execute(n % 3 === 0 ? settle('t', `h${n}`, EACH) : release('t', `h${n}`));
        }),
      );
      const events = await eventsOf(log.store, accountStream('t'));
      expect(budgetFindings(events)).to.deep.equal([]);
      expect(events.some((one) => accountCodec.decode(one).type === 'BudgetAlerted')).to.equal(true);
      await log.dispose();
    });
  });

const REPLICA = fileURLToPath(new URL('../../support/money/budgetReplica.js', import.meta.url));

/** A replica in a process of its own. `onAnswer`: `key outcome`. */
interface Replica {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly isKilled: () => boolean;
  onAnswer: (line: string) => void;
}

const startReplica = async (connectionString: string): Promise<Replica> => {
  const child = spawn(process.execPath, [REPLICA, connectionString], { stdio: ['pipe', 'pipe', 'inherit'] });
  // Work that is sent to one that was just killed is lost, as it is meant to be.
  child.stdin.on('error', () => undefined);
  const replica: Replica = { child, isKilled: () => child.killed, onAnswer: () => undefined };
  const lines = createInterface({ input: child.stdout });
  await once(lines, 'line');
  lines.on('line', (line) => {
    replica.onAnswer(line);
  });
  return replica;
};

describe('a budget under races, while replicas are killed', () => {
  let double: Awaited<ReturnType<typeof startEsdbDouble>>;
  let log: ReturnType<typeof openEventStoreDb>;
  let replicas: Replica[];
  before(async () => {
    double = await startEsdbDouble();
    log = openEventStoreDb({ connectionString: double.connectionString });
    replicas = await Promise.all(
      Array.from({ length: WRITERS }, () => startReplica(double.connectionString)),
    );
  });
  after(async () => {
    for (const { child } of replicas) child.kill('SIGKILL');
    await log.close();
    await double.close();
  });

  /** All work at once; a replica dies whenever as many answers as `kills` says have come. Gives outcomes by key. */
  const raced = async (how: string, tenant: string, kills: readonly number[]) => {
    const outcomes = new Map<string, string>();
    const keys = Array.from({ length: CALLS }, (_, n) => `k${String(n)}`);
    const restarts: Promise<void>[] = [];
    let answers = 0;
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const ask = (key: string, at: number): void => {
      replicas[at % WRITERS]!.child.stdin.write(`${how} ${tenant} ${key} ${String(EACH)}\n`);
    };
    /** Callers of a dead replica ask the one in its place, for all that they have no answer to. */
    const replace = async (at: number): Promise<void> => {
      const dead = replicas[at]!;
      dead.child.kill('SIGKILL');
      await once(dead.child, 'exit');
      replicas[at] = listening(await startReplica(double.connectionString));
      for (const [n, key] of keys.entries()) if (n % WRITERS === at && !outcomes.has(key)) ask(key, at);
    };
    const listening = (replica: Replica): Replica => {
      replica.onAnswer = (line) => {
        const [key = '', outcome = ''] = line.split(' ');
        if (!outcomes.has(key)) outcomes.set(key, outcome);
        else expect(outcomes.get(key), `${key} is answered again`).to.equal(outcome);
        const at = kills.indexOf((answers += 1));
        if (at !== -1) restarts.push(replace(at % WRITERS));
        if (outcomes.size === CALLS) finish();
      };
      return replica;
    };
    for (const replica of replicas) listening(replica);
    for (const [n, key] of keys.entries()) ask(key, n);
    await finished;
    await Promise.all(restarts);
    return outcomes;
  };

  for (const how of ['charge', 'hold'])
    it(`lets ten of ${CALLS} by ${how} pass where ten fit, and charges no other, ${KILLED_ROUNDS}×`, async function () {
      this.timeout(3_600_000);
      const writer = accountWriter({ store: log });
      for (let round = 0; round < KILLED_ROUNDS; round += 1) {
        const tenant = `${how}-${String(round)}`;
        await writer.execute(adjustment(tenant, 100_000));
        const data = { ...budget().data, tenant_id: tenant, limit_credits: asCredits(ROOM * EACH) };
        await writer.execute({ type: 'SetBudget', data, meta: metaOf() });
        // From the first answer on, and later in each round.
        const outcomes = await raced(
          how,
          tenant,
          [1, 12, 23].map((first) => first + (round % 10)),
        );
        const charged = [...outcomes].filter(([, outcome]) => outcome === 'done').map(([key]) => key);
        expect(new Set(outcomes.values()), tenant).to.deep.equal(new Set(['done', 'budget_reached']));
        const events = await eventsOf(log, accountStream(tenant));
        const burned = events
          .map((one) => accountCodec.decode(one))
          .flatMap(({ type, data: burn }) =>
            type === 'CreditsBurned' ? [burn.usage_id.replace('use_', '')] : [],
          );
        expect(burned.sort(), tenant).to.deep.equal(charged.sort());
        expect(burned).to.have.length(ROOM);
        expect(budgetFindings(events)).to.deep.equal([]);
      }
    });
});
