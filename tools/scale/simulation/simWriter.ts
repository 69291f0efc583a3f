import type { Agenda } from './agenda.ts';
import type { Coefficients } from './coefficients.ts';
import type { Draws } from './draws.ts';
import type { SimLog } from './simLogs.ts';
import type { Station } from './station.ts';

/** Gives a span of the processor's work, now and then with a collection of garbage in it. */
export type Work = (ms: number) => number;

/** Work of one thread: pauses come by the work done, as they do in V8. */
export const threadWork = ({ gc_every_ms, gc_pauses_ms }: Coefficients['writer'], draws: Draws): Work => {
  let left = draws.exponential(gc_every_ms);
  return (ms) => {
    left -= ms;
    if (left > 0) return ms;
    left = draws.exponential(gc_every_ms);
    return ms + draws.sample(gc_pauses_ms);
  };
};

export interface SimWriterDeps {
  readonly agenda: Agenda;
  readonly draws: Draws;
  readonly log: SimLog;
  /** The processor of this replica; its thread answers requests too. */
  readonly core: Station;
  readonly work: Work;
  readonly costs: Coefficients['writer'];
  readonly limits: SimWriterLimits;
}

/** As `src/writer/streamWriter.ts` has them. */
export interface SimWriterLimits {
  readonly batchMax: number;
  readonly attemptsMax: number;
  /** Accounts kept in memory. */
  readonly warmMax: number;
  /** Processor time to bring in one that is not; 0: all have been in memory from the beginning. */
  readonly coldMs: number;
  readonly backOffMs: { readonly base: number; readonly cap: number };
}

export interface SimWriterReport {
  readonly appends: number;
  readonly commands: number;
  readonly conflicts: number;
  readonly coldLoads: number;
  /** Commands that gave up. */
  readonly contended: number;
}

/** The account writer of one replica. */
export interface SimWriter {
  readonly execute: (tenant: number, done: () => void) => void;
  readonly report: () => SimWriterReport;
  readonly reset: () => void;
}

interface Box {
  readonly tenant: number;
  waiting: (() => void)[];
  running: boolean;
  /** Events that this replica knows of; below 0: the account must be brought in. */
  known: number;
}

const NOTHING = { appends: 0, commands: 0, conflicts: 0, coldLoads: 0, contended: 0 };

/** One event a command; one append in flight for each account, with all that waited. */
export const newSimWriter = (deps: SimWriterDeps): SimWriter => {
  const { agenda, draws, log, core, work, costs, limits } = deps;
  const boxes = new Map<number, Box>();
  let seen = { ...NOTHING };

  const evict = () => {
    if (boxes.size < limits.warmMax) return;
    for (const [tenant, box] of boxes) {
      if (box.running) continue;
      boxes.delete(tenant);
      return;
    }
  };
  const boxOf = (tenant: number): Box => {
    const found = boxes.get(tenant);
    if (found === undefined) evict();
    else boxes.delete(tenant);
    const box = found ?? { tenant, waiting: [], running: false, known: limits.coldMs === 0 ? 0 : -1 };
    boxes.set(tenant, box);
    return box;
  };

  const turn = (box: Box) => {
    let entries: (() => void)[] = [];
    const begin = () => {
      entries = box.waiting.splice(0, limits.batchMax);
      const coldMs = box.known < 0 ? limits.coldMs : 0;
      if (box.known < 0) {
        seen.coldLoads += 1;
        box.known = log.length(box.tenant);
      }
      return work(costs.turn_ms + coldMs + costs.command_ms * entries.length);
    };
    core.visit(begin, () => attempt(box, entries, 1));
  };

  const attempt = (box: Box, entries: readonly (() => void)[], nth: number) => {
    seen.appends += 1;
    const done = (result: 'appended' | 'conflict') => {
      if (result === 'appended') {
        box.known += entries.length;
        seen.commands += entries.length;
        end(box, entries);
      } else again(box, entries, nth);
    };
    log.append({ tenant: box.tenant, expected: box.known, events: entries.length, done });
  };

  const again = (box: Box, entries: readonly (() => void)[], nth: number) => {
    seen.conflicts += 1;
    const catchUp = () => {
      const missed = log.length(box.tenant) - box.known;
      box.known += missed;
      return work(costs.read_ms + costs.fold_event_ms * missed);
    };
    core.visit(catchUp, () => {
      if (nth === limits.attemptsMax) {
        seen.contended += entries.length;
        end(box, entries);
        return;
      }
      const ceiling = Math.min(limits.backOffMs.cap, limits.backOffMs.base * 2 ** (nth - 1));
      agenda.after(ceiling * (0.5 + draws.uniform() / 2), () => decideAgain(box, entries, nth + 1));
    });
  };

  const decideAgain = (box: Box, entries: readonly (() => void)[], nth: number) =>
    core.visit(work(costs.command_ms * entries.length), () => attempt(box, entries, nth));

  const end = (box: Box, entries: readonly (() => void)[]) => {
    box.running = false;
    for (const done of entries) done();
    agenda.after(0, () => start(box));
  };

  const start = (box: Box) => {
    if (box.running || box.waiting.length === 0) return;
    box.running = true;
    turn(box);
  };

  return {
    execute: (tenant, done) => {
      const box = boxOf(tenant);
      box.waiting.push(done);
      agenda.after(0, () => start(box));
    },
    report: () => seen,
    reset: () => (seen = { ...NOTHING }),
  };
};
