import { CHAIN_START, type ChainLink, followChain } from '../../domain/kernel/chain.ts';
import { LOG_STREAM } from '../../domain/kernel/json.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { LogPart } from './eventLog.ts';
import { COLUMNS, headerLogId, lastPosition, type LogFile, openLogFile, recorded } from './eventLogFile.ts';

/** Streams of which the last events are looked at, and how many of each. */
const SAMPLE = { streams: 20, events: 200 } as const;
const PAGE = 1000;
const NEWEST = 500;

const tell = (part: LogPart): void => {
  process.stdout.write(`${JSON.stringify(part)}\n`);
};

const newestAt = (file: LogFile): string | null => {
  const sql = `SELECT max(json_extract(metadata, '$.recorded_at')) FROM
    (SELECT metadata FROM events ORDER BY position DESC LIMIT ${NEWEST})`;
  const at = file.rows(sql)[0]?.[0];
  return typeof at === 'string' ? at : null;
};

/** Which log its first event says it is; null where no event does. */
const openedLogId = (file: LogFile): string | null => {
  const sql = `SELECT json_extract(data, '$.log_id') FROM events
    WHERE stream = ? AND revision = 0 AND type = 'LogOpened'`;
  const id = file.rows(sql, LOG_STREAM)[0]?.[0];
  return typeof id === 'string' ? id : null;
};

/** Follows many streams at once; the first of each is taken as it is unless it is the stream's beginning. */
const follower = () => {
  const links = new Map<string, ChainLink>();
  const broken: string[] = [];
  const startOf = ({ revision, metadata }: RecordedEvent): ChainLink =>
    revision === 0n ? CHAIN_START : { nextRevision: revision, hash: metadata['prev_hash'] as string | null };
  let events = 0;
  return {
    see: (event: RecordedEvent): void => {
      events += 1;
      const step = followChain(links.get(event.stream) ?? startOf(event), event);
      if (step.kind === 'linked') links.set(event.stream, step.link);
      else broken.push(`${event.stream} revision ${event.revision.toString()}: ${step.at.detail}`);
    },
    result: () => ({ streams: links.size, events, broken: broken.slice(0, 3), breaks: broken.length }),
  };
};

const sampled = (file: LogFile) => {
  const { see, result } = follower();
  const streams = file.rows(
    `SELECT DISTINCT stream FROM (SELECT stream FROM events ORDER BY position DESC LIMIT ${NEWEST})
     LIMIT ${SAMPLE.streams}`,
  );
  for (const [stream] of streams) {
    const sql = `SELECT ${COLUMNS} FROM events WHERE stream = ? ORDER BY revision DESC LIMIT ${SAMPLE.events}`;
    for (const row of [...file.rows(sql, String(stream))].reverse()) see(recorded(row));
  }
  return result();
};

const all = (file: LogFile) => {
  const { see, result } = follower();
  const sql = `SELECT ${COLUMNS} FROM events WHERE position > ? ORDER BY position LIMIT ${PAGE}`;
  for (let after = 0; ;) {
    const rows = file.rows(sql, after);
    for (const row of rows) see(recorded(row));
    if (rows.length < PAGE) return result();
    after = Number(rows.at(-1)?.[0]);
  }
};

/**
 * A program of its own, so that it can be ended when it takes too long: looks at an event log, for reading
 * only, and says what it found part by part.
 */
const [path, deep] = process.argv.slice(2);
if (path === undefined) throw new Error('usage: <event log> [deep]');
const file = openLogFile(path, true);
tell({
  kind: 'facts',
  position: lastPosition(file),
  newest_at: newestAt(file),
  log_id: { header: headerLogId(file), opened: openedLogId(file) },
});
const checked = file.rows('PRAGMA quick_check(3)').map(([line]) => String(line));
tell({ kind: 'file', complaints: checked.filter((line) => line !== 'ok') });
tell({ kind: 'chains', ...(deep === 'deep' ? all(file) : sampled(file)) });
file.close();
