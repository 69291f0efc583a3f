import Database from 'libsql';
import { messageOf } from '../../domain/kernel/json.ts';
import { NO_ROOM } from './eventLog.ts';

/**
 * A program of its own, so that the process that started it stays free to answer and to stop it: writes the log as
 * it is at one moment to a new file. SQLite reads in one transaction beside the writer; neither waits for the
 * other.
 */
const [from, to] = process.argv.slice(2);
if (from === undefined || to === undefined) throw new Error('usage: <event log> <new file>');
try {
  const db = new Database(from);
  db.exec('PRAGMA busy_timeout = 10000');
  db.prepare('VACUUM INTO ?').run(to);
  db.close();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = error instanceof Database.SqliteError && error.code === 'SQLITE_FULL' ? NO_ROOM : 1;
}
