import type { RecordedEvent } from '../../../domain/ports/eventStore.ts';
import { OWN, VISIBLE } from './sqliteEventLog.ts';
import { COLUMNS, openLogFile, recorded } from './sqliteEventLogFile.ts';

/** Which of the shares, of how many, and how far the log is read. */
export interface LogShare {
  readonly path: string;
  readonly share: number;
  readonly of: number;
  readonly upTo: bigint;
  /** Categories that every share reads. */
  readonly published: readonly string[];
}

const PAGE = 1000;
const BYTES = 'CAST(metadata AS BLOB)';
/** Canonical metadata ends with the tenant, or with it and a trace of always the same length. */
const HAS_TRACE = `substr(${BYTES}, -73, 15) = CAST(',"traceparent":' AS BLOB)`;
const character = (fromEnd: number): string => `unicode(substr(${BYTES}, -${fromEnd}, 1))`;
/** The last two characters of the tenant, whatever it is: they only part the work, and nothing depends on how well. */
const ROUTE = `CASE WHEN ${HAS_TRACE} THEN 7 * ${character(75)} + ${character(76)}
  ELSE 7 * ${character(3)} + ${character(4)} END`;
const DIGEST_BEFORE = '(SELECT log_digest FROM events AS before WHERE before.position = events.position - 1)';

/** An event of a share, or one that was published for all. */
export interface SharedRow {
  readonly event: RecordedEvent;
  readonly isOwn: boolean;
  readonly digestBefore: string | null;
}

/** Whether the file has what a share needs: the digest over the log. */
export const hasDigests = (path: string): boolean => {
  const file = openLogFile(path, true);
  try {
    return file.layout > 1;
  } finally {
    file.close();
  }
};

/** The events of a share in the order of the log, by a connection of its own. */
export function* logShare({ path, share, of, upTo, published }: LogShare): Generator<SharedRow, void, void> {
  const file = openLogFile(path, true);
  const names = published.map((name) => `'${name}'`).join(', ');
  const isOwn = `(${ROUTE}) % ${of} = ${share}`;
  const isPublished = `category IN (${names})`;
  // Of what was not published only own events are read: most need not be told apart a second time.
  const sql = `SELECT ${COLUMNS}, category, log_digest, ${DIGEST_BEFORE},
      CASE WHEN ${isPublished} THEN ${isOwn} ELSE 1 END FROM events
    WHERE position > ? AND position <= ? AND (${isOwn} OR ${isPublished}) AND (${OWN} OR ${VISIBLE})
    ORDER BY position LIMIT ${PAGE}`;
  try {
    let after = 0;
    for (;;) {
      const rows = file.rows(sql, after, Number(upTo));
      for (const row of rows)
        yield { event: recorded(row), digestBefore: row[9] as string | null, isOwn: row[10] === 1 };
      if (rows.length < PAGE) return;
      after = rows.at(-1)?.[0] as number;
    }
  } finally {
    file.close();
  }
}
