import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../domain/kernel/json.ts';
import type { AppendResult } from '../../domain/ports/log.ts';
import {
  commitChannel,
  commitGroup,
  type EncodedAppend,
  openLogFile,
  type SnapshotRow,
  writeSnapshot,
} from './eventLogFile.ts';

/** Requests to the thread: commit a group, write a snapshot, or end (`null`). */
export type ThreadMessage = readonly EncodedAppend[] | SnapshotRow | null;

/** Its answer: a result for each append of the group; what became of the snapshot. */
export type ThreadAnswer = readonly AppendResult[] | { readonly unsaved: string | null };

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const { path } = workerData as { readonly path: string };
const file = openLogFile(path, false);
const committed = commitChannel(path);

const saved = (row: SnapshotRow): ThreadAnswer => {
  try {
    writeSnapshot(file, row);
    return { unsaved: null };
  } catch (error) {
    return { unsaved: messageOf(error) };
  }
};

port.on('message', (message: ThreadMessage) => {
  if (message !== null && 'stream' in message) {
    port.postMessage(saved(message));
    return;
  }
  if (message !== null) {
    // The callers come first: they wait for their answers.
    port.postMessage(commitGroup(file, message));
    committed.postMessage(null);
    return;
  }
  committed.close();
  file.close();
  port.close();
});
