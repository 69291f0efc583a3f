import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import { systemTimers } from '../../adapters/local/local.ts';
import { decodeAny, isKnownType } from '../../domain/catalogue.ts';
import type { ProjectionNotice } from '../../projections/engine/arrivals.ts';
import { projectionRunner, type ProjectionRunner } from '../../projections/engine/runner.ts';
import type { RunnerDeps } from '../../projections/engine/building.ts';
import { DROPPED_READ_MODELS, READ_MODELS } from '../../projections/readModels.ts';
import { appliedFacts, type AppliedFacts } from '../telemetry/tracing.ts';
import { COUNTED_TYPES } from '../telemetry/businessMetrics.ts';
import type { WaitOptions } from '../../projections/engine/waiting.ts';
import type { ProjectorStatus } from '../../projections/engine/subscribe.ts';
import type { ArchivePlace } from './archive.ts';
import type { EmbeddedSql } from '../../adapters/pglite/sql.ts';
import { SqlUnavailable } from '../../projections/engine/ports.ts';

/** The receivers of the projections' reports. */
export interface ProjectionListener {
  readonly onApplied: (facts: AppliedFacts) => void;
  readonly notify: (notice: ProjectionNotice) => void;
}

/** How loudly the projections' notices are logged. */
export const NOTICE_LEVELS = {
  batch: 'debug',
  started: 'info',
  promoted: 'info',
  aside: 'warn',
  evicted: 'warn',
  unknown_types: 'warn',
  diverged: 'error',
  rebuilt: 'info',
  dropped: 'warn',
  failed: 'error',
  stopped: 'error',
  parked: 'error',
  parked_again: 'error',
  unparked: 'info',
} as const;

/** How the service projects. */
export interface Projecting {
  readonly diverged: 'rebuild' | 'leave';
  readonly isTraced: boolean;
}

/** Keeps all read models of the service up with the log, in the thread that calls it. */
export const serviceRunner = (
  { sql, feed }: Pick<RunnerDeps, 'sql' | 'feed'>,
  { diverged, isTraced }: Projecting,
  { onApplied, notify }: ProjectionListener,
): ProjectionRunner =>
  projectionRunner({
    sql,
    feed,
    projectors: READ_MODELS,
    dropped: DROPPED_READ_MODELS,
    decode: decodeAny,
    isKnownType,
    timers: systemTimers,
    diverged,
    onApplied: (batch) =>
      onApplied(appliedFacts(batch, { types: COUNTED_TYPES, isTraced, nowMs: Date.now() })),
    notify,
  });

/** Input of the projecting thread: it reads the log's file itself. */
export interface ProjectionThreadData extends Projecting {
  /** Of the read models. */
  readonly folder: string | null;
  readonly logFile: string;
  /** Where the events are that were archived; left out: none were. */
  readonly archive?: ArchivePlace | undefined;
  readonly port: MessagePort;
}

/** Its requests. */
export type ProjectionQuestion =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop'; readonly id: number }
  | { readonly kind: 'status'; readonly id: number }
  | {
      readonly kind: 'wait';
      readonly id: number;
      readonly position: bigint;
      readonly options: WaitOptions;
    };

/** Its present state, which others may read without waiting. */
export interface RunnerState {
  readonly isProjecting: boolean;
  readonly aside: string | null;
}

/** Its messages. */
export type ProjectionNews =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: boolean | readonly ProjectorStatus[] }
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly message: string;
      /** The database could not be reached: the same question may be answered later. */
      readonly isUnavailable: boolean;
    }
  | {
      readonly kind: 'notice';
      readonly notice: ProjectionNotice;
      /** Of a batch. */
      readonly facts?: AppliedFacts;
      readonly state: RunnerState;
    };

/** Embedded read models, and the projections that run beside them in the same thread. */
export interface ProjectingSql extends EmbeddedSql {
  /** To talk to the projections; they start when they are told to. */
  readonly projections: MessagePort;
}

/** Opens embedded read models in `folder`, in a thread that can keep them up with the log in `logFile`. */
export const openProjecting = async (
  {
    folder,
    logFile,
    archive,
  }: Pick<ProjectionThreadData, 'logFile' | 'archive'> & { readonly folder: string },
  projecting: Projecting,
): Promise<ProjectingSql> => {
  let { port1: projections, port2: port } = new MessageChannel();
  const { pgliteSql } = await import('../../adapters/pglite/sql.ts');
  const opened = await pgliteSql(folder, (path) => {
    // A thread that did not open has taken its port with it.
    ({ port1: projections, port2: port } = new MessageChannel());
    const workerData: ProjectionThreadData = { ...projecting, folder: path, logFile, archive, port };
    return new Worker(new URL('./projectionThread.js', import.meta.url), {
      workerData,
      transferList: [port],
    });
  });
  return { ...opened, projections };
};

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
