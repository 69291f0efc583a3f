import type { MessagePort } from 'node:worker_threads';
import type { WaitOptions } from '../../../projections/engine/waiting.ts';
import type { ProjectionNotice } from '../../../projections/engine/arrivals.ts';
import type { ProjectorStatus } from '../../../projections/engine/subscribe.ts';
import type { AppliedFacts } from '../../telemetry/tracing.ts';
import type { Projecting } from './serviceRunner.ts';

/** What the thread that projects is given: it reads the log's file itself. */
export interface ProjectionThreadData extends Projecting {
  /** Of the read models. */
  readonly folder: string | null;
  readonly logFile: string;
  readonly port: MessagePort;
}

/** What it is asked. */
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

/** What it is right now, of which others may ask without waiting. */
export interface RunnerState {
  readonly isProjecting: boolean;
  readonly aside: string | null;
}

/** What it tells. */
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
