import { once } from 'node:events';
import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { z } from 'zod';
import type { SqlRow } from '../../../projections/engine/ports.ts';
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

const ROW_OF = /^\{"table":"(\w+)"/;

const rowsIn = async function* (file: string): AsyncGenerator<SqlRow> {
  for await (const text of createInterface({ input: createReadStream(file) }))
    yield rowLine.parse(JSON.parse(text)).row;
};

/** Keeps the lines of `snapshotLines` in `folder`, a file a table, so that each is read alone. */
export const snapshotStore = (folder: string) => {
  const files = new Map<string, WriteStream>();
  let [first, end]: (string | undefined)[] = [];
  let rows = 0;
  const fileOf = (table: string): string => join(folder, `${table}.ndjson`);
  const streamOf = (table: string): WriteStream => {
    const stream = files.get(table) ?? createWriteStream(fileOf(table), { mode: 0o600 });
    files.set(table, stream);
    return stream;
  };
  return {
    write: async (text: string): Promise<void> => {
      const table = ROW_OF.exec(text)?.[1];
      if (table === undefined) {
        if (first === undefined) first = text;
        else end = text;
        return;
      }
      rows += 1;
      const stream = streamOf(table);
      if (!stream.write(text)) await once(stream, 'drain');
    },
    /** The snapshot; throws when its end is missing. Whole numbers arrive as text where they were bigints. */
    finish: async (): Promise<ReadModelSnapshot> => {
      for (const stream of files.values()) await finished(stream.end());
      if (first === undefined || end === undefined || endLine.parse(JSON.parse(end)).rows !== rows)
        throw new Error('the snapshot of the read models is not whole');
      const { models, missing } = head.parse(JSON.parse(first));
      const none = async function* (): AsyncGenerator<SqlRow> {
        // A table without rows has no file.
      };
      return { models, missing, rows: (table) => (files.has(table) ? rowsIn(fileOf(table)) : none()) };
    },
  };
};
