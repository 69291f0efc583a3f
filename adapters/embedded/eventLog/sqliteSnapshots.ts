import { snapshotFromJson, snapshotToJson } from '../../../domain/kernel/snapshotJson.ts';
import { SNAPSHOT_BYTES_MAX, type SnapshotStore } from '../../../domain/ports/snapshotStore.ts';
import type { LogFile } from './sqliteEventLogFile.ts';

/** A snapshot as the thread that writes gets it. */
export interface SnapshotRow {
  readonly stream: string;
  readonly snapshot: string;
}

const LOAD = 'SELECT snapshot FROM snapshots WHERE stream = ?';
const SAVE = `INSERT INTO snapshots (stream, snapshot) VALUES (?, ?)
  ON CONFLICT (stream) DO UPDATE SET snapshot = excluded.snapshot`;

/** Written without a sync of its own: a loss of power may take it, and the next append syncs it too. */
export const writeSnapshot = (file: LogFile, { stream, snapshot }: SnapshotRow): void => {
  file.exec('PRAGMA synchronous = NORMAL');
  try {
    file.run(SAVE, stream, snapshot);
  } finally {
    file.exec('PRAGMA synchronous = FULL');
  }
};

/** Snapshots in the file of the log. The thread that appends writes them too: the file has one writer. */
export const sqliteSnapshots = (
  file: LogFile,
  write: (row: SnapshotRow) => Promise<void>,
): SnapshotStore => ({
  // eslint-disable-next-line @typescript-eslint/require-await -- the port is asynchronous, SQLite is not
  load: async (stream) => {
    const text = file.rows(LOAD, stream)[0]?.[0];
    return typeof text === 'string' ? snapshotFromJson(JSON.parse(text)) : undefined;
  },
  save: async (snapshot) => {
    const text = JSON.stringify(snapshotToJson(snapshot));
    if (Buffer.byteLength(text) > SNAPSHOT_BYTES_MAX) return 'too_large';
    await write({ stream: snapshot.stream, snapshot: text });
    return 'saved';
  },
});
