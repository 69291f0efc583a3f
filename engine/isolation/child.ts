import process from 'node:process';
import { fileInHand } from './fileInHand.ts';
import { workClock } from '../kernel/workClock.ts';
import { HURRY_AFTER, type ChildMessage, type SentJob, type ToldToChild } from './children/jobs.ts';
import type { ReadingTold } from '../formats/pieces/received.ts';
import { runJob } from './runJob.ts';

/*
 * The process that parses. It does one job at a time, and may keep the file of one request open for the next
 * job of that request. Its environment has nothing of the service, and a file reaches it as bytes: what it may
 * open itself is what `isolation/confinement.ts` leaves to it on this machine. It ends with its parent.
 */
const send = (message: ChildMessage): void => {
  process.send?.(message);
};

const inHand = fileInHand();
/** Of the job that is done now. */
const hurry = { isOn: false };
const onReading: ReadingTold = (pages, isParsed) => send({ kind: 'reading', pages, isParsed });

const answered = async (job: SentJob): Promise<ChildMessage> => {
  const tell = (progress: unknown): void => send({ kind: 'progress', progress });
  hurry.isOn = false;
  const workedMs = workClock();
  const { deadlineMs = Infinity } = job;
  const isLate = (): boolean => hurry.isOn || workedMs() > HURRY_AFTER * deadlineMs;
  const answer = await runJob(inHand.take(job, { hurry, onReading, onPagesRead: tell }), {
    tell,
    open: inHand.open,
    isLate,
  });
  return { kind: 'answer', answer, keeps: inHand.isKeptAfter(job), openings: inHand.openings() };
};

const failed = (error: unknown): ChildMessage => {
  inHand.putAway();
  return { kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : 'unknown' };
};

// Ctrl-C in a terminal reaches the children too; the parent decides what becomes of their work.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));
process.on('message', (message) => {
  const told = message as ToldToChild;
  if (told.kind === 'putAway') inHand.putAway();
  else if (told.kind === 'hurry') hurry.isOn = true;
  else void answered(told).catch(failed).then(send);
});
send({ kind: 'ready' });
