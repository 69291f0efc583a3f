import { generations, hasRegistry } from '../../../projections/engine/registry.ts';
import type { Sql, SqlRow, SqlTx } from '../../../projections/engine/ports.ts';
import type { Projector, ReadTable } from '../../../projections/engine/table.ts';

/** A read model at one moment: all its rows are as of `position`. */
export interface SnapshotModel {
  readonly name: string;
  /** Its checkpoint; null when it has applied nothing. */
  readonly position: bigint | null;
  readonly tables: readonly ReadTable[];
}

/** All read models at one moment. Rows can be read again and are the same then. */
export interface ReadModelSnapshot {
  readonly models: readonly SnapshotModel[];
  /** Read models that could not be read, and why. */
  readonly missing: readonly string[];
  readonly rows: (table: string) => AsyncIterable<SqlRow>;
}

const ROWS_AT_A_TIME = 2_000;

async function* cursor(tx: SqlTx, from: string): AsyncGenerator<SqlRow> {
  await tx.query(`declare audited no scroll cursor for select * from ${from}`);
  try {
    for (;;) {
      const rows = await tx.query(`fetch ${ROWS_AT_A_TIME} from audited`);
      if (rows.length === 0) return;
      yield* rows;
    }
  } finally {
    await tx.query('close audited');
  }
}

/** The generation of each read model that serves, under the code's own version. */
const servingModels = async (tx: SqlTx, projectors: readonly Projector[]) => {
  const serving = (await hasRegistry(tx)) ? (await generations(tx)).filter(({ serves }) => serves) : [];
  const schemas = new Map<string, string>();
  const models: SnapshotModel[] = [];
  const missing: string[] = [];
  for (const { name, version, tables } of projectors) {
    const generation = serving.find((one) => one.name === name);
    if (generation?.version !== version) {
      missing.push(generation === undefined ? `${name} is not built` : `${name} is of another version`);
      continue;
    }
    const keys = tables.map((table) => ({ name: table.name, key: table.key }));
    models.push({ name, position: generation.position, tables: keys });
    for (const table of tables) schemas.set(table.name, generation.schema);
  }
  return { models, missing, schemas };
};

/** Hands out the read models as they are now, rows and checkpoints of one moment, while `work` runs. */
export const withSnapshot = <T>(
  sql: Sql,
  projectors: readonly Projector[],
  work: (snapshot: ReadModelSnapshot) => Promise<T>,
): Promise<T> =>
  sql.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    const { models, missing, schemas } = await servingModels(tx, projectors);
    const rows = (table: string): AsyncIterable<SqlRow> => {
      const schema = schemas.get(table);
      if (schema === undefined) throw new Error(`${table} is no table of a read model`);
      return cursor(tx, `${schema}.${table}`);
    };
    return work({ models, missing, rows });
  });
