import type { Sql } from '../ports.ts';
import { generations, hasRegistry, lockRegistry, retire } from '../registry.ts';
import { dropRetired } from './retire.ts';
import type { KnownModels } from './versionPlan.ts';
import { versionPlanOf } from './versionPlan.ts';

/** Names of read models that serve and that only a newer release knows. */
export const foreignModels = async (sql: Sql, known: KnownModels): Promise<readonly string[]> => {
  if (!(await hasRegistry(sql))) return [];
  const { newer } = versionPlanOf(await generations(sql), known);
  return newer.filter((one) => one.known === null).map(({ name }) => name);
};

/**
 * Takes out read models that only a newer release knows: while they serve, an older one stands aside. The
 * newer release fills them again when it comes back.
 */
export const withdraw = async (sql: Sql, names: readonly string[]): Promise<void> => {
  await sql.transaction(async (tx) => {
    await lockRegistry(tx);
    await retire(tx, `name = any($1::text[]) and state <> 'retired'`, [names]);
  });
  await dropRetired(sql);
};
