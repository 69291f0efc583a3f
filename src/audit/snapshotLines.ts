import { z } from 'zod';
import type { SqlRow } from '../../projections/engine/ports.ts';
import type { ReadModelSnapshot } from './snapshot.ts';

const head = z.object({
  models: z.array(
    z.object({
      name: z.string(),
      position: z
        .string()
        .nullable()
        .transform((text) => (text === null ? null : BigInt(text))),
      tables: z.array(z.object({ name: z.string(), key: z.array(z.string()) })),
    }),
  ),
  missing: z.array(z.string()),
});
const rowLine = z.object({ table: z.string(), row: z.record(z.string(), z.unknown()) });
const endLine = z.object({ rows: z.number() });

const line = (value: unknown): string =>
  `${JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? member.toString() : member))}\n`;

/** A snapshot as NDJSON: a head, a line for each row, and an end that says how many rows there were. */
export async function* snapshotLines({ models, missing, rows }: ReadModelSnapshot): AsyncGenerator<string> {
  yield line({ models, missing });
  let count = 0;
  for (const { tables } of models)
    for (const { name } of tables)
      for await (const row of rows(name)) {
        count += 1;
        yield line({ table: name, row });
      }
  yield line({ rows: count });
}

async function* rowsIn(lines: AsyncIterable<string>, table: string): AsyncGenerator<SqlRow> {
  let [count, isWhole, isHead] = [0, false, true];
  for await (const text of lines) {
    if (isHead) {
      isHead = false;
      continue;
    }
    const value: unknown = JSON.parse(text);
    const parsed = rowLine.safeParse(value);
    if (parsed.success) {
      count += 1;
      if (parsed.data.table === table) yield parsed.data.row;
    } else isWhole = endLine.parse(value).rows === count;
  }
  if (!isWhole) throw new Error('the snapshot of the read models is not whole');
}

/**
 * The snapshot that `snapshotLines` wrote. `open` gives its lines from the start, each time it is called.
 * Whole numbers arrive as text where they were bigints. Throws when the lines end too early.
 */
export const snapshotOfLines = async (open: () => AsyncIterable<string>): Promise<ReadModelSnapshot> => {
  for await (const text of open()) {
    const { models, missing } = head.parse(JSON.parse(text));
    return { models, missing, rows: (table) => rowsIn(open(), table) };
  }
  throw new Error('the snapshot of the read models is empty');
};
