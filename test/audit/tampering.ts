import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { openSqliteEventLog } from '../../adapters/embedded/sqliteEventLog.ts';
import { chainHash, eventIdOfHash } from '../../domain/kernel/chain.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { runAudit, type AuditReport, type AuditRequest } from '../../src/audit/runAudit.ts';
import type { AuditedLog } from '../../src/audit/auditLog.ts';
import { tempFolder } from '../support/tempFolder.ts';
import { history } from './auditedHistory.ts';

/** A row of the log's file. */
export interface StoredEvent {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

/** A log's file, opened with any tool: past every rule of the service. */
export interface Intruder {
  readonly run: (sql: string, ...values: readonly (string | number)[]) => void;
  readonly all: (where: string) => readonly StoredEvent[];
  /** The first event of a type. */
  readonly first: (type: string) => StoredEvent;
  readonly last: (stream: string) => StoredEvent;
  /** Appends an event to a stream with the hash that belongs there. */
  readonly forge: (stream: string, type: string, data: JsonObject) => void;
}

const LOG = 'events.db';

const copyOf = (from: string, to: string): void => {
  for (const suffix of ['', '-wal', '-shm'])
    if (existsSync(join(from, `${LOG}${suffix}`)))
      copyFileSync(join(from, `${LOG}${suffix}`), join(to, `${LOG}${suffix}`));
};

const intruderIn = (db: InstanceType<typeof Database>): Intruder => {
  const run: Intruder['run'] = (sql, ...values) => void db.prepare(sql).run(...values);
  const all: Intruder['all'] = (where) =>
    db.prepare(`select * from events where ${where}`).all() as StoredEvent[];
  const one = (where: string): StoredEvent => {
    const [event] = all(where);
    if (event === undefined) throw new Error(`no event where ${where}`);
    return event;
  };
  const last: Intruder['last'] = (stream) => one(`stream = '${stream}' order by revision desc limit 1`);
  return {
    run,
    all,
    last,
    first: (type) => one(`type = '${type}' order by position limit 1`),
    forge: (stream, type, data) => {
      const before = last(stream);
      const past = JSON.parse(before.metadata) as JsonObject;
      const metadata = { ...past, prev_hash: past['hash'] ?? null };
      const revision = before.revision + 1;
      const hash = chainHash({ stream, revision: BigInt(revision), type, data, metadata });
      const { position } = one('1 = 1 order by position desc limit 1');
      run(
        'insert into events (position, stream, revision, category, id, type, data, metadata) values (?, ?, ?, ?, ?, ?, ?, ?)',
        position + 1,
        stream,
        revision,
        stream.split('-', 1)[0] ?? '',
        eventIdOfHash(hash),
        type,
        JSON.stringify(data),
        JSON.stringify({ ...metadata, hash }),
      );
    },
  };
};

/** Audits a copy of the log after `tamper` has been at its file. */
export const auditAfter = async (
  tamper: (intruder: Intruder) => void,
  request: Partial<AuditRequest> = {},
): Promise<{ readonly report: AuditReport; readonly log: AuditedLog }> => {
  const folder = tempFolder();
  copyOf(await history(), folder.path);
  const path = join(folder.path, LOG);
  const db = new Database(path);
  tamper(intruderIn(db));
  db.close();
  const feed = openSqliteEventLog({ path, readOnly: true });
  try {
    return await runAudit({ feed, dense: true, ...request });
  } finally {
    await feed.close();
    folder.remove();
  }
};

export const nothing = (): void => undefined;
