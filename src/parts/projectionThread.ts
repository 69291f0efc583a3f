import { parentPort, workerData } from 'node:worker_threads';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { openPgliteSession, servePglite } from '../../adapters/pglite/server.ts';
import { readThrough } from '../../domain/eventLog/movedTexts.ts';
import { archiveIn } from './archive.ts';
import { messageOf } from '../../domain/kernel/json.ts';
import { SqlUnavailable } from '../../projections/engine/ports.ts';
import type { AppliedFacts } from '../telemetry/tracing.ts';
import {
  serviceRunner,
  type ProjectionNews,
  type ProjectionQuestion,
  type ProjectionThreadData,
} from './projecting.ts';

/**
 * Embedded read models in a thread of their own: it has the database, reads the log, and makes the rows where they
 * are stored. The thread that serves requests pays for none of it.
 */
if (parentPort === null) throw new Error('this module runs in a worker thread');
const { folder, logFile, archive, port, ...projecting } = workerData as ProjectionThreadData;

const tell = (news: ProjectionNews): void => port.postMessage(news);

const session = await openPgliteSession(folder);
const feed = readThrough(
  openSqliteEventLog({ path: logFile, besideWriter: true, archive: archive && archiveIn(archive) }),
);
const end = async (): Promise<void> => {
  await runner.stop();
  await feed.close();
  port.close();
};
const sql = servePglite(parentPort, session, end);

let applied: AppliedFacts | undefined;
const runner = serviceRunner({ sql, feed }, projecting, {
  onApplied: (facts) => (applied = facts),
  notify: (notice) => {
    const state = { isProjecting: runner.isProjecting(), aside: runner.aside() };
    tell({ kind: 'notice', notice, state, ...(applied && { facts: applied }) });
    applied = undefined;
  },
});

const answerTo = async (
  question: Exclude<ProjectionQuestion, { kind: 'start' }>,
): Promise<Extract<ProjectionNews, { kind: 'answer' }>['answer']> => {
  if (question.kind === 'wait') return runner.waitFor(question.position, question.options);
  if (question.kind === 'status') return runner.status();
  await runner.stop();
  return true;
};

port.on('message', (question: ProjectionQuestion) => {
  if (question.kind === 'start') {
    runner.start();
    return;
  }
  const { id } = question;
  answerTo(question).then(
    (answer) => tell({ kind: 'answer', id, answer }),
    (error: unknown) => {
      const isUnavailable = error instanceof SqlUnavailable;
      tell({ kind: 'failed', id, message: messageOf(error), isUnavailable });
    },
  );
});
