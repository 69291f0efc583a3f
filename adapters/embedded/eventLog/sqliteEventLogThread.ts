import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../../domain/kernel/failure.ts';
import type { AppendResult } from '../../../domain/ports/eventStore.ts';
import { commitGroup, type EncodedAppend } from './sqliteEventLogCommit.ts';
import { openLogFile } from './sqliteEventLogFile.ts';
import { writeSnapshot, type SnapshotRow } from './sqliteSnapshots.ts';

/** What the thread is asked: to commit a group, to write a snapshot, or to end (`null`). */
export type ThreadMessage = readonly EncodedAppend[] | SnapshotRow | null;

/** Its answer: a result for each append of the group; what became of the snapshot. */
export type ThreadAnswer = readonly AppendResult[] | { readonly unsaved: string | null };

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const { path } = workerData as { readonly path: string };
const file = openLogFile(path, false);

const saved = (row: SnapshotRow): ThreadAnswer => {
  try {
    writeSnapshot(file, row);
    return { unsaved: null };
  } catch (error) {
    return { unsaved: messageOf(error) };
  }
};

port.on('message', (message: ThreadMessage) => {
  if (message !== null) {
    port.postMessage('stream' in message ? saved(message) : commitGroup(file, message));
    return;
  }
  file.close();
  port.close();
});
