import { parentPort, workerData } from 'node:worker_threads';
import { commitGroup, type EncodedAppend } from './sqliteEventLogCommit.ts';
import { openLogFile } from './sqliteEventLogFile.ts';

/** What the thread is asked: to commit a group, or to end (`null`). */
export type GroupMessage = readonly EncodedAppend[] | null;

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const { path } = workerData as { readonly path: string };
const file = openLogFile(path, false);

port.on('message', (group: GroupMessage) => {
  if (group !== null) {
    port.postMessage(commitGroup(file, group));
    return;
  }
  file.close();
  port.close();
});
