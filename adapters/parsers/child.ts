import process from 'node:process';
import type { Job, ChildMessage } from './jobs.ts';
import { runJob } from './runJob.ts';

/*
 * The process that parses. It does one job at a time and knows nothing of the service: no environment, no
 * network use, only the file it is told to read. It ends with its parent.
 */
const send = (message: ChildMessage): void => {
  process.send?.(message);
};

// Ctrl-C in a terminal reaches the children too; the parent decides what becomes of their work.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));
process.on('message', (job) => {
  runJob(job as Job, (progress) => send({ kind: 'progress', progress })).then(
    (answer) => send({ kind: 'answer', answer }),
    (error: unknown) =>
      send({
        kind: 'failed',
        message: error instanceof Error ? (error.stack ?? error.message) : 'unknown',
      }),
  );
});
