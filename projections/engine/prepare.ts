import type { Sql, SqlTx } from './ports.ts';
import type { Projector } from './projector.ts';
import type { Generation } from './registry.ts';
import { abandon, createGeneration, generations, lockRegistry } from './registry.ts';

/** A projector and the generation that it writes. */
export interface Slot {
  readonly projector: Projector;
  readonly generation: Generation;
}

const slotOf = async (sql: SqlTx, projector: Projector): Promise<Slot> => {
  const all = (await generations(sql, projector.name)).filter(({ state }) => state !== 'rebuilding');
  const serving = all.find(({ serves }) => serves);
  if (serving === undefined) {
    return { projector, generation: await createGeneration(sql, projector, 'live') };
  }
  const obsolete = all.filter(({ serves, version }) => !serves && version !== projector.version);
  for (const generation of obsolete) await abandon(sql, generation);
  if (serving.version === projector.version) return { projector, generation: serving };
  const begun = all.find(({ serves, version }) => !serves && version === projector.version);
  return { projector, generation: begun ?? (await createGeneration(sql, projector, 'building')) };
};

/**
 * Makes what is missing: the registry, and tables and views of each read model, so that queries have
 * something to read. A read model whose version has changed goes on serving its old rows while the new
 * generation is built. Call it before queries are answered; the runner calls it again.
 */
export const prepareReadModels = (sql: Sql, projectors: readonly Projector[]): Promise<readonly Slot[]> =>
  sql.transaction(async (tx) => {
    await lockRegistry(tx);
    const slots: Slot[] = [];
    for (const projector of projectors) slots.push(await slotOf(tx, projector));
    return slots;
  });
