import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pgliteSql } from '../../adapters/pglite/sql.ts';
import { EPOCH_DDL, REPLAY_STORE_DDL, REPLICAS_DDL, USED_ONCE_DDL } from '../../adapters/sqlTables.ts';
import { prepareReadModels } from '../../projections/engine/registry.ts';
import { READ_MODELS } from '../../projections/readModels.ts';

/** Compiled sources, beside which the prepared folders lie. */
const COMPILED = fileURLToPath(new URL('../../', import.meta.url));
const PREPARED = join(COMPILED, 'prepared');
/** Everything that the tables of a new installation are made by. */
const SOURCES = ['adapters/pglite', 'adapters/sqlTables.js', 'projections'];
/** Below a data folder. */
const READ_MODELS_FOLDER = 'read-models';

const filesIn = async (path: string): Promise<readonly string[]> => {
  if (path.endsWith('.js')) return [path];
  const entries = await readdir(path, { recursive: true });
  return entries.filter((name) => /\.(?:js|sql|json)$/u.test(name)).map((name) => join(path, name));
};

/** Changes with every source that has a part in it, and with the packages that are installed. */
const digest = async (): Promise<string> => {
  const hash = createHash('sha256').update(await readFile(join(COMPILED, '../package-lock.json')));
  for (const source of SOURCES)
    for (const file of [...(await filesIn(join(COMPILED, source)))].sort())
      hash.update(`${file} ${String((await stat(file)).mtimeMs)}\n`);
  return hash.digest('hex').slice(0, 32);
};

/** A database with the tables of all read models and no row of the log: each copy is of whatever log it meets. */
const prepare = async (folder: string): Promise<void> => {
  const { sql } = await pgliteSql(folder);
  for (const ddl of [REPLAY_STORE_DDL, USED_ONCE_DDL, EPOCH_DDL, REPLICAS_DDL]) await sql.script(ddl);
  await prepareReadModels(sql, READ_MODELS);
  await sql.close();
};

/** Another process may make the same at the same time: one of them is kept, whole. */
const madeOnce = async (): Promise<string> => {
  const name = await digest();
  const kept = join(PREPARED, name);
  if (existsSync(kept)) return kept;
  const earlier = await readdir(PREPARED).catch(() => []);
  const own = join(PREPARED, `${name}.${String(process.pid)}`);
  await mkdir(PREPARED, { recursive: true });
  await prepare(own);
  await rename(own, kept).catch(() => rm(own, { recursive: true, force: true }));
  for (const other of earlier.filter((one) => !one.startsWith(name)))
    await rm(join(PREPARED, other), { recursive: true, force: true });
  return kept;
};

let prepared: Promise<string> | undefined;

/** With holes for what is empty, sharing blocks where the file system can. */
const COPY = process.platform === 'linux' ? ['-R', '--reflink=auto', '--sparse=always'] : ['-R'];

/**
 * Gives a data folder that no service has started in the tables that its first start would make there: that takes a
 * second of CPU time, which no spec is about but those of the first start. Everything else, the log with its identity
 * and its keys, is made by the start.
 */
export const prepareDataDir = async (dataDir: string): Promise<void> => {
  const folder = join(dataDir, READ_MODELS_FOLDER);
  const left = await readdir(dataDir).catch(() => []);
  if (left.length > 0) return;
  const from = await (prepared ??= madeOnce());
  await mkdir(dataDir, { recursive: true });
  await promisify(execFile)('cp', [...COPY, from, folder]);
};
