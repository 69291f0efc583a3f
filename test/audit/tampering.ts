import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import {
  canonicalJson,
  chainHash,
  eventIdOfHash,
  LOG_DIGEST_START,
  logDigestAfter,
} from '../../domain/kernel/chain.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { runAudit, type AuditReport, type AuditRequest } from '../../src/audit/runAudit.ts';
import type { AuditedLog } from '../../src/audit/chains.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
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
  /** Writes a row as it is given. */
  readonly put: (event: StoredEvent) => void;
  /** Gives all events of a stream the hashes and IDs that belong to them, and the file its digests. */
  readonly rechain: (stream: string) => void;
  /** Gives every row of the file the digest over the log that belongs to it. */
  readonly redigest: () => void;
  /** Appends an event to a stream with the hash, ID and digest that belong there. */
  readonly forge: (stream: string, type: string, data: JsonObject) => void;
  /** The same, with metadata of its own where it is given. */
  readonly forgeAs: (stream: string, event: ForgedEvent) => void;
}

interface ForgedEvent {
  readonly type: string;
  readonly data: JsonObject;
  readonly schema_version?: number;
  readonly recorded_at?: string;
}

const LOG = 'events.db';

const copyOf = (from: string, to: string): void => {
  for (const suffix of ['', '-wal', '-shm'])
    if (existsSync(join(from, `${LOG}${suffix}`)))
      copyFileSync(join(from, `${LOG}${suffix}`), join(to, `${LOG}${suffix}`));
};

/** Gives the event the hash and the ID that belong to its content. */
const signed = (
  { stream, revision, type, data: text, metadata: said }: StoredEvent,
  prev_hash: string | null,
) => {
  const [data, { hash: _, ...rest }] = [JSON.parse(text) as JsonObject, JSON.parse(said) as JsonObject];
  const metadata: JsonObject = { ...rest, prev_hash };
  const hash = chainHash({ stream, revision: BigInt(revision), type, data, metadata });
  const isVersion2 = metadata['hash_version'] === 2;
  return {
    hash,
    metadata: canonicalJson({ ...metadata, hash }),
    id: isVersion2 ? eventIdOfHash(hash) : null,
  };
};

const hashIn = ({ metadata }: StoredEvent): string =>
  ((JSON.parse(metadata) as JsonObject)['hash'] ?? '') as string;

/** The tools of one who has the file. */
export const intruderIn = (db: InstanceType<typeof Database>): Intruder => {
  const run: Intruder['run'] = (sql, ...values) => void db.prepare(sql).run(...values);
  const all: Intruder['all'] = (where) =>
    db.prepare(`select * from events where ${where}`).all() as StoredEvent[];
  const one = (where: string): StoredEvent => {
    const [event] = all(where);
    if (event === undefined) throw new Error(`no event where ${where}`);
    return event;
  };
  const last: Intruder['last'] = (stream) => one(`stream = '${stream}' order by revision desc limit 1`);
  const redigest = (): void => {
    let digest = LOG_DIGEST_START;
    for (const event of all('1 = 1 order by position')) {
      digest = logDigestAfter(digest, event.position, hashIn(event));
      run('update events set log_digest = ? where position = ?', digest, event.position);
    }
  };
  const rechain: Intruder['rechain'] = (stream) => {
    let prev: string | null = null;
    for (const event of all(`stream = '${stream}' order by revision`)) {
      const { hash, metadata, id } = signed(event, prev);
      run(
        'update events set metadata = ?, id = ? where position = ?',
        metadata,
        id ?? event.id,
        event.position,
      );
      prev = hash;
    }
    redigest();
  };
  const put: Intruder['put'] = (event) => {
    const { position, stream, revision, id, type, data, metadata } = event;
    const category = stream.split('-', 1)[0] ?? '';
    const sql = 'insert into events (position, stream, revision, category, id, type, data, metadata)';
    run(
      `${sql} values (?, ?, ?, ?, ?, ?, ?, ?)`,
      position,
      stream,
      revision,
      category,
      id,
      type,
      data,
      metadata,
    );
  };
  const forgeAs: Intruder['forgeAs'] = (stream, { type, data, ...own }) => {
    const before = last(stream);
    const { position } = one('1 = 1 order by position desc limit 1');
    const place = { ...before, revision: before.revision + 1, position: position + 1, type };
    const said = JSON.stringify({ ...(JSON.parse(before.metadata) as JsonObject), ...own });
    const event = { ...place, data: canonicalJson(data), metadata: said };
    const { metadata, id } = signed(event, hashIn(before));
    const fallback = `00000000-0000-4000-8000-${String(position + 1).padStart(12, '0')}`;
    put({ ...event, metadata, id: id ?? fallback });
    redigest();
  };
  return {
    run,
    all,
    last,
    put,
    rechain,
    redigest,
    first: (type) => one(`type = '${type}' order by position limit 1`),
    forge: (stream, type, data) => forgeAs(stream, { type, data }),
    forgeAs,
  };
};

/** Hands out a copy of the log's file after `tamper` has been at it. */
export const tampered = async <T>(
  tamper: (intruder: Intruder) => void,
  work: (path: string) => Promise<T>,
): Promise<T> => {
  const folder = tempFolder();
  copyOf(await history(), folder.path);
  const path = join(folder.path, LOG);
  const db = new Database(path);
  db.exec('pragma synchronous = off; begin');
  tamper(intruderIn(db));
  db.exec('commit');
  db.close();
  try {
    return await work(path);
  } finally {
    folder.remove();
  }
};

/** Audits a log's file. */
export const auditOf = async (
  path: string,
  request: Partial<AuditRequest> = {},
): Promise<{ readonly report: AuditReport; readonly log: AuditedLog }> => {
  const feed = openSqliteEventLog({ path, readOnly: true, stored: true });
  try {
    return await runAudit({ feed, dense: true, ...request });
  } finally {
    await feed.close();
  }
};

/** Audits a copy of the log after `tamper` has been at its file. */
export const auditAfter = (
  tamper: (intruder: Intruder) => void,
  request: Partial<AuditRequest> = {},
): Promise<{ readonly report: AuditReport; readonly log: AuditedLog }> =>
  tampered(tamper, (path) => auditOf(path, request));

export const nothing = (): void => undefined;
