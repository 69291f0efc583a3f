import process from 'node:process';
import { received } from './children/fileBytes.ts';
import type { ChildMessage, Job, SentFile } from './jobs.ts';
import { runJob } from './runJob.ts';

/*
 * The process that parses. It does one job at a time. Its environment has nothing of the service, and a
 * file reaches it as bytes: what it may open itself is what `isolation/confinement.ts` leaves to it on this
 * machine. It ends with its parent.
 */
const send = (message: ChildMessage): void => {
  process.send?.(message);
};

// Ctrl-C in a terminal reaches the children too; the parent decides what becomes of their work.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));
process.on('message', (job) => {
  runJob(received(job as Job<SentFile>), (progress) => send({ kind: 'progress', progress })).then(
    (answer) => send({ kind: 'answer', answer }),
    (error: unknown) =>
      send({
        kind: 'failed',
        message: error instanceof Error ? (error.stack ?? error.message) : 'unknown',
      }),
  );
});
send({ kind: 'ready' });
