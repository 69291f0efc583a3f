import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
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

/** Lines of one table are gathered up to so many characters, and written at once. */
const GATHERED_MAX = 262_144;

/** A file a table; one is open at a time, for the lines of a table come one after the other. */
const tableFiles = (folder: string) => {
  const names = new Set<string>();
  let current: { readonly table: string; readonly file: FileHandle; text: string } | undefined;
  const fileOf = (table: string): string => join(folder, `${table}.ndjson`);
  const close = async (): Promise<void> => {
    const last = current;
    current = undefined;
    if (last === undefined) return;
    await last.file.writeFile(last.text).finally(() => last.file.close());
  };
  return {
    add: async (table: string, text: string): Promise<void> => {
      if (current?.table !== table) {
        await close();
        current = { table, file: await open(fileOf(table), 'a', 0o600), text: '' };
        names.add(table);
      }
      current.text += text;
      if (current.text.length < GATHERED_MAX) return;
      await current.file.writeFile(current.text);
      current.text = '';
    },
    close,
    rowsOf: (table: string) => (names.has(table) ? rowsIn(fileOf(table)) : undefined),
  };
};

async function* noRows(): AsyncGenerator<SqlRow> {
  // A table without rows has no file.
}

/**
 * Keeps the lines of `snapshotLines` in `folder`, a file a table, so that each is read alone. Nothing of it is open
 * after `close`, or `finish`: then the folder may be removed.
 */
export const snapshotStore = (folder: string) => {
  const files = tableFiles(folder);
  let [first, end]: (string | undefined)[] = [];
  let rows = 0;
  return {
    write: async (text: string): Promise<void> => {
      const table = ROW_OF.exec(text)?.[1];
      if (table === undefined) {
        if (first === undefined) first = text;
        else end = text;
        return;
      }
      rows += 1;
      await files.add(table, text);
    },
    close: () => files.close(),
    /** The snapshot; throws when its end is missing. Whole numbers arrive as text where they were bigints. */
    finish: async (): Promise<ReadModelSnapshot> => {
      await files.close();
      if (first === undefined || end === undefined || endLine.parse(JSON.parse(end)).rows !== rows)
        throw new Error('the snapshot of the read models is not whole');
      const { models, missing } = head.parse(JSON.parse(first));
      return { models, missing, rows: (table) => files.rowsOf(table) ?? noRows() };
    },
  };
};
