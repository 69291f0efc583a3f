import type { MessagePort } from 'node:worker_threads';
import { SqlUnavailable } from '../../../projections/engine/ports.ts';
import type { ProjectionRunner } from '../../../projections/engine/runner.ts';
import type { ProjectorStatus } from '../../../projections/engine/subscribe.ts';
import type { ProjectionNews, ProjectionQuestion, RunnerState } from './projectionMessages.ts';
import type { ProjectionListener } from './serviceRunner.ts';

type Answer = Extract<ProjectionNews, { kind: 'answer' }>['answer'];

/** A question without its number. */
type Asked<Q = ProjectionQuestion> = Q extends { readonly id: number } ? Omit<Q, 'id'> : never;

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

const goneError = (): SqlUnavailable => new SqlUnavailable('the thread of the read models has ended');

/** Asks the thread; those who wait when it ends are refused. */
const askingOn = (port: MessagePort) => {
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  let isGone = false;
  port.once('close', () => {
    isGone = true;
    for (const { reject } of waiting.values()) reject(goneError());
    waiting.clear();
  });
  return {
    settle: (news: Exclude<ProjectionNews, { kind: 'notice' }>): void => {
      const caller = waiting.get(news.id);
      waiting.delete(news.id);
      if (news.kind === 'answer') caller?.resolve(news.answer);
      else caller?.reject(news.isUnavailable ? new SqlUnavailable(news.message) : new Error(news.message));
    },
    ask: (question: Asked): Promise<Answer> =>
      new Promise((resolve, reject) => {
        if (isGone) {
          reject(goneError());
          return;
        }
        asked += 1;
        waiting.set(asked, { resolve, reject });
        port.postMessage({ ...question, id: asked });
      }),
  };
};

/** The projections of the thread at the other end of `port`, as if they ran here. */
export const runnerInThread = (
  port: MessagePort,
  { onApplied, notify }: ProjectionListener,
): ProjectionRunner => {
  const { ask, settle } = askingOn(port);
  let state: RunnerState = { isProjecting: false, aside: null };
  port.on('message', (news: ProjectionNews) => {
    if (news.kind !== 'notice') {
      settle(news);
      return;
    }
    state = news.state;
    if (news.facts !== undefined) onApplied(news.facts);
    notify(news.notice);
  });
  port.once('close', () => (state = { isProjecting: false, aside: null }));
  return {
    start: () => port.postMessage({ kind: 'start' } satisfies ProjectionQuestion),
    stop: async () => {
      // A thread that has ended projects no more.
      await ask({ kind: 'stop' }).catch(() => undefined);
      state = { ...state, isProjecting: false };
    },
    waitFor: async (position, options) => (await ask({ kind: 'wait', position, options })) === true,
    status: async () => (await ask({ kind: 'status' })) as readonly ProjectorStatus[],
    isProjecting: () => state.isProjecting,
    aside: () => state.aside,
  };
};
