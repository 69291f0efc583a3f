import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import type { BudgetSet } from '../../domain/account/budgetMessages.ts';
import type { AccountCommand } from '../../domain/account/messages.ts';
import { asCredits, MOVEMENT_MAX } from '../../domain/kernel/amounts.ts';
import { accountWriter, type AccountWriter } from '../../src/writer/accountWriter.ts';
import { adjustment, hold, metaOf, settle } from '../../test/support/money/accountCommands.ts';

/** What a burn costs beside the same burn without budgets: CPU of the whole writer, log and all. */

const scope = { project_id: 'p1', task_id: 't1', api_key_id: 'k1' };
const tags = { team: 'a', customer: '17' };

/** Each burn counts for six of ten: the tenant, its key, project, task and two tags. */
const SCOPES: readonly BudgetSet['scope'][] = [
  {},
  { key_id: 'k1' },
  { project_id: 'p1' },
  { task_id: 't1' },
  { tag: { name: 'team', value: 'a' } },
  { tag: { name: 'customer', value: '17' } },
  { key_id: 'k2' },
  { project_id: 'p2' },
  { task_id: 't2' },
  { tag: { name: 'team', value: 'b' } },
];

const done = async (writer: AccountWriter, command: AccountCommand): Promise<void> => {
  const { kind } = await writer.execute(command);
  if (kind !== 'done') throw new Error(`${command.type}: ${kind}`);
};

const burn = async (writer: AccountWriter, key: string): Promise<void> => {
  const held = hold('t', key, 1);
  await done(writer, { ...held, data: { ...held.data, ...scope, tags } });
  const settled = settle('t', key, 1);
  await done(writer, { ...settled, data: { ...settled.data, ...scope } });
};

/** CPU of one burn, µs, in a log of its own. */
const cpuOf = async (scopes: typeof SCOPES, burns: number): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'quire-budgets-'));
  const log = openSqliteEventLog({ path: join(folder, 'events.db') });
  const writer = accountWriter({ store: log });
  await done(writer, adjustment('t', MOVEMENT_MAX));
  for (const [n, one] of scopes.entries()) {
    const data = {
      tenant_id: 't',
      by_key_id: null,
      budget_id: `b${n}`,
      name: '',
      scope: one,
      time_zone: 'UTC',
    };
    const rest = { period: 'month', limit_credits: asCredits(MOVEMENT_MAX), on_reached: 'refuse' } as const;
    await done(writer, { type: 'SetBudget', data: { ...data, ...rest, alert_at: [0.8, 1] }, meta: metaOf() });
  }
  const before = process.cpuUsage();
  for (let n = 0; n < burns; n += 16)
    await Promise.all(Array.from({ length: 16 }, (_, at) => burn(writer, `k${n + at}`)));
  const { user, system } = process.cpuUsage(before);
  await writer.close();
  await log.close();
  rmSync(folder, { recursive: true, force: true });
  return (user + system) / burns;
};

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const { values } = parseArgs({
  options: { burns: { type: 'string', default: '8000' }, rounds: { type: 'string', default: '9' } },
});
const burns = Number(values.burns);
await cpuOf(SCOPES, burns);
const [without, withTen]: [number[], number[]] = [[], []];
for (let round = 0; round < Number(values.rounds); round += 1) {
  without.push(await cpuOf([], burns));
  withTen.push(await cpuOf(SCOPES, burns));
}
const [base, ten] = [median(without), median(withTen)];
console.log(
  `${base.toFixed(1)} µs a burn without, ${ten.toFixed(1)} µs with ten budgets, six of them counting`,
);
console.log(`${((ten / base - 1) * 100).toFixed(1)} % more`);
