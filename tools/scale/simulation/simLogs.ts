import type { Agenda } from './agenda.ts';
import type { Coefficients } from './coefficients.ts';
import type { Draws } from './draws.ts';
import { newStation, type Station } from './station.ts';

/** One append of a simulated writer. */
export interface SimAppend {
  readonly tenant: number;
  readonly expected: number;
  readonly events: number;
  readonly done: (result: 'appended' | 'conflict') => void;
}

/** A simulated log: it compares revisions as the real ones do. */
export interface SimLog {
  readonly append: (append: SimAppend) => void;
  /** Events in the tenant's stream. */
  readonly length: (tenant: number) => number;
  readonly station: Station;
}

/** Where the log is. Times of a cluster are assumptions; those of the embedded log are measured. */
export type LogSetup =
  | { readonly kind: 'embedded' }
  | {
      readonly kind: 'cluster';
      /** Median until a majority has it, and its spread (lognormal). */
      readonly quorumMs: number;
      readonly sigma: number;
      /** What the leader does one after another: for an append, and for each event of it. */
      readonly leaderAppendMs: number;
      readonly leaderEventMs: number;
    };

export interface LogDeps {
  readonly agenda: Agenda;
  readonly draws: Draws;
  readonly commit: Coefficients['commit'];
  readonly onCommit: (tenant: number, events: number) => void;
  /** What the thread that asked does with each answer of the embedded log, before it tells who waits. */
  readonly onAnswer: (then: () => void) => void;
}

const revisions = (onCommit: LogDeps['onCommit']) => {
  const lengths = new Map<number, number>();
  const length = (tenant: number) => lengths.get(tenant) ?? 0;
  const place = ({ tenant, expected, events }: SimAppend): 'appended' | 'conflict' => {
    if (length(tenant) !== expected) return 'conflict';
    lengths.set(tenant, expected + events);
    onCommit(tenant, events);
    return 'appended';
  };
  return { length, place };
};

/** Appends that wait while a group is being committed share the next commit. */
const embeddedLog = ({ agenda, draws, commit, onCommit, onAnswer }: LogDeps): SimLog => {
  const { length, place } = revisions(onCommit);
  const station = newStation(agenda, 1);
  let waiting: SimAppend[] = [];
  let inFlight = false;

  const send = () => {
    if (inFlight || waiting.length === 0) return;
    inFlight = true;
    const group = waiting;
    waiting = [];
    const events = group.reduce((sum, append) => sum + append.events, 0);
    const more = commit.append_ms * (group.length - 1) + commit.event_ms * (events - group.length);
    station.visit(draws.sample(commit.single_ms) + more, () => {
      const results = group.map(place);
      inFlight = false;
      send();
      agenda.after(commit.handoff_ms, () =>
        onAnswer(() => group.forEach(({ done }, at) => done(results[at]!))),
      );
    });
  };
  return {
    append: (append) => {
      waiting.push(append);
      agenda.after(0, send);
    },
    length,
    station,
  };
};

const clusterLog = (
  { agenda, draws, onCommit }: LogDeps,
  setup: Extract<LogSetup, { kind: 'cluster' }>,
): SimLog => {
  const { length, place } = revisions(onCommit);
  const station = newStation(agenda, 1);
  const { quorumMs, sigma, leaderAppendMs, leaderEventMs } = setup;
  return {
    append: (append) =>
      station.visit(leaderAppendMs + leaderEventMs * append.events, () => {
        const result = place(append);
        // A conflict is said at once, by the leader alone; it still travels.
        const ms = draws.lognormal(quorumMs, sigma) * (result === 'appended' ? 1 : 0.5);
        agenda.after(ms, () => append.done(result));
      }),
    length,
    station,
  };
};

export const newSimLog = (deps: LogDeps, setup: LogSetup): SimLog =>
  setup.kind === 'embedded' ? embeddedLog(deps) : clusterLog(deps, setup);
