import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import Database from 'libsql';
import { pgliteSql } from '../../../adapters/pglite/sql.ts';
import { namedIn } from './planted.ts';

const withoutError = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

/** A file as it is, and unpacked where it is packed; with the texts of base64 and hex that are in it. */
const readingsOf = (bytes: Buffer): readonly string[] => {
  const unpacked = [gunzipSync, inflateSync, inflateRawSync, brotliDecompressSync].flatMap(
    (unpack) => withoutError(() => unpack(bytes)) ?? [],
  );
  const plain = [bytes, ...unpacked].map((one) => one.toString('latin1'));
  const coded = plain.flatMap((text) => [
    ...(text.match(/[A-Za-z0-9+/_-]{16,}={0,2}/g) ?? []).flatMap((run) =>
      [0, 1, 2, 3].map((at) => Buffer.from(run.slice(at), 'base64').toString('latin1')),
    ),
    ...(text.match(/(?:[0-9a-f]{2}){12,}/gi) ?? []).flatMap((run) =>
      [0, 1].map((at) => Buffer.from(run.slice(at), 'hex').toString('latin1')),
    ),
  ]);
  // Each other byte: texts in UTF-16. Whole code units, beyond which Node 24 writes into other memory.
  const wide = [0, 1].map((at) => bytes.toString('utf16le', at, at + ((bytes.length - at) & ~1)));
  return [...plain, ...wide, coded.join('\n')];
};

/** Paths of all files in a folder; what goes meanwhile is left out. */
const filesIn = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = entries.map((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : Promise.resolve([path]);
  });
  return (await Promise.all(found)).flat();
};

/** Where the words are in the files of a folder, as `file: where it was planted`. */
export const foundIn = async (
  folder: string,
  planted: ReadonlyMap<string, string>,
): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const path of await filesIn(folder)) {
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    const where = namedIn(planted, [path, ...readingsOf(bytes)]);
    found.push(...where.map((one) => `${path.slice(folder.length)}: ${one}`));
    // Connections that the service ends meanwhile are to be seen as ended.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return found;
};

/** The same of the rows of every table, read as a database reads them. */
export const foundInTables = async (dataDir: string, planted: ReadonlyMap<string, string>) => {
  const found: string[] = [];
  const look = (table: string, row: unknown) =>
    found.push(...namedIn(planted, [String(row)]).map((where) => `${table}: ${where}`));
  const log = new Database(join(dataDir, 'events.db'), { readonly: true });
  const tables = log.prepare("select name from sqlite_master where type = 'table'").all();
  for (const { name } of tables as { name: string }[])
    for (const row of log.prepare(`select * from "${name}"`).all() as Record<string, unknown>[])
      for (const value of Object.values(row))
        look(name, Buffer.isBuffer(value) ? readingsOf(value).join('\n') : value);
  log.close();
  const { sql } = await pgliteSql(join(dataDir, 'read-models'));
  const names = await sql.query(
    `select schemaname || '.' || tablename as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  for (const { name } of names)
    for (const { row } of await sql.query(`select t::text as row from ${String(name)} t`))
      look(String(name), row);
  await sql.close();
  return found;
};
