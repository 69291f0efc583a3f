import type { Sql, SqlTx } from '../ports.ts';
import type { Projector } from '../projector.ts';
import type { Generation } from '../registry.ts';
import { createGeneration, generations, hasRegistry, lockRegistry } from '../registry.ts';

/** A projector and a generation of its read model. */
export interface Slot {
  readonly projector: Projector;
  readonly generation: Generation;
}

const missingIn = async (sql: SqlTx, projectors: readonly Projector[]): Promise<readonly Projector[]> => {
  const serving = (await generations(sql)).filter(({ serves }) => serves);
  return projectors.filter((projector) => !serving.some(({ name }) => name === projector.name));
};

/**
 * Makes what is missing: the registry, and tables and views of each read model, so that queries have
 * something to read. Several processes may do it at once. A process whose database role may not create
 * anything passes where nothing is missing. A read model that serves in another version is left as it
 * is: `upgrade.ts` builds the new one beside it.
 */
export const prepareReadModels = async (sql: Sql, projectors: readonly Projector[]): Promise<void> => {
  if ((await hasRegistry(sql)) && (await missingIn(sql, projectors)).length === 0) return;
  await sql.transaction(async (tx) => {
    await lockRegistry(tx);
    for (const projector of await missingIn(tx, projectors)) await createGeneration(tx, projector, 'live');
  });
};
