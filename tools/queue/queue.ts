import { availableParallelism } from 'node:os';

/** What a job says at its end; `cpu` in seconds, of it and of its children. */
export interface Outcome {
  readonly passed: number;
  readonly failed: readonly { readonly title: string; readonly text: string }[];
  /** Seconds by the clock and of CPU. */
  readonly wall: number;
  readonly cpu: number;
  /** The end of what the job printed. */
  readonly printed: string;
}

/** A spec file or a command. `wall` and `cpu` are the seconds that are remembered of it, or a guess. */
export interface Job {
  readonly id: string;
  /** The ID, and the release of Node where there are two. */
  readonly name: string;
  readonly kind: string;
  readonly wall: number;
  readonly cpu: number;
  /** Jobs of a lower rank go first. */
  readonly rank: number;
  /** Seconds since the queue began; a job that would end later is left out. */
  readonly until?: number;
  readonly run: () => Promise<Outcome>;
}

/** A job that ran; the times are seconds since the queue began. */
export interface Run {
  readonly job: Job;
  /** The row of the picture that it stands in. */
  readonly lane: number;
  readonly began: number;
  readonly ended: number;
  readonly outcome: Outcome;
}

export interface QueueOptions {
  readonly cores?: number;
  /** Hears of a job that is left out, and how many times as long as remembered jobs take. */
  readonly leftOut?: (job: Job, pace: number) => void;
  /** Gives another job where none waits any more, or undefined; `now` is seconds since the queue began. */
  readonly filler?: (now: number) => Job | undefined;
  /** Hears of each end, and how many jobs are left. */
  readonly told?: (run: Run, left: number) => void;
}

/** Cores that a job is taken to keep busy at the least: one that only waits holds memory. */
const SHARE_MIN = 0.2;

/** Jobs beside each other at the most, by cores, so that shares that were remembered wrong do no harm. */
const PLACES_PER_CORE = 3;

/** The cores that a job keeps busy while it runs. */
const shareOf = ({ wall, cpu }: Job, cores: number): number =>
  Math.min(cores, Math.max(SHARE_MIN, cpu / Math.max(wall, 0.05)));

interface Running {
  readonly id: string;
  readonly share: number;
  readonly lane: number;
  readonly ending: Promise<void>;
}

const lowestFree = (running: ReadonlySet<Running>): number => {
  const taken = new Set([...running].map(({ lane }) => lane));
  let lane = 0;
  while (taken.has(lane)) lane += 1;
  return lane;
};

/** How many times as long as remembered these jobs took, by the clock. */
const paceOf = (done: readonly Run[]): number => {
  const took = done.reduce((sum, { began, ended }) => sum + ended - began, 0);
  const known = done.reduce((sum, { job: { wall } }) => sum + wall, 0);
  return known === 0 ? 1 : took / known;
};

/**
 * Runs all jobs by their ranks, of one rank the longest first, and each as soon as its share of the cores is free: jobs
 * that wait run beside jobs that compute. One that asks for more than there is runs alone, and two of one ID one after
 * the other.
 */
export const runAll = async (
  jobs: readonly Job[],
  { cores = availableParallelism(), leftOut, filler, told }: QueueOptions = {},
): Promise<readonly Run[]> => {
  const waiting = [...jobs].sort((a, b) => a.rank - b.rank || b.wall - a.wall);
  const running = new Set<Running>();
  const done: Run[] = [];
  const start = performance.now();
  const now = () => (performance.now() - start) / 1000;
  const load = () => [...running].reduce((sum, { share }) => sum + share, 0);
  // A file on another release of Node may want the same port.
  const isTwin = ({ id }: Job) => [...running].some((other) => other.id === id);
  const fits = (job: Job) =>
    running.size === 0 || (!isTwin(job) && load() + shareOf(job, cores) <= cores + 0.01);

  const begin = (job: Job): void => {
    const [lane, began] = [lowestFree(running), now()];
    const ending = job.run().then((outcome) => {
      running.delete(place);
      const run = { job, lane, began, ended: now(), outcome };
      done.push(run);
      told?.(run, waiting.length + running.size);
    });
    const place: Running = { id: job.id, share: shareOf(job, cores), lane, ending };
    running.add(place);
  };

  const dropLate = (): void => {
    const pace = paceOf(done);
    for (const job of waiting.filter(({ until = Infinity, wall }) => now() + wall * pace > until)) {
      waiting.splice(waiting.indexOf(job), 1);
      leftOut?.(job, pace);
    }
  };

  const next = (): Job | undefined => {
    if (running.size >= cores * PLACES_PER_CORE) return undefined;
    dropLate();
    const index = waiting.findIndex(fits);
    if (index >= 0) return waiting.splice(index, 1)[0];
    const more = waiting.length === 0 ? filler?.(now()) : undefined;
    return more !== undefined && fits(more) ? more : undefined;
  };

  for (;;) {
    for (let job = next(); job !== undefined; job = next()) begin(job);
    if (running.size === 0) return done;
    await Promise.race([...running].map(({ ending }) => ending));
  }
};

/** Columns of the picture. */
const COLUMNS = 96;

/**
 * What ran when, as text: a row for each lane with a letter for the kind of its job, below it the share of the cores
 * that was used, in tenths, by what the jobs say they computed.
 */
export const pictureOf = (runs: readonly Run[], cores = availableParallelism()): string => {
  const end = Math.max(...runs.map(({ ended }) => ended));
  const width = end / COLUMNS;
  const lanes = Math.max(...runs.map(({ lane }) => lane)) + 1;
  const rows = Array.from({ length: lanes }, () => Array<string>(COLUMNS).fill(' '));
  const busy = Array<number>(COLUMNS).fill(0);
  for (const { job, lane, began, ended, outcome } of runs) {
    const share = outcome.cpu / Math.max(0.001, ended - began);
    for (let column = Math.floor(began / width); column < COLUMNS && column * width < ended; column += 1) {
      const row = rows[lane];
      if (row !== undefined) row[column] = job.kind.charAt(0);
      const overlap = Math.min(ended, (column + 1) * width) - Math.max(began, column * width);
      busy[column] = (busy[column] ?? 0) + (overlap / width) * share;
    }
  }
  const load = busy.map((used) => String(Math.min(9, Math.floor((used / cores) * 10))));
  return [
    ...rows.map((row, lane) => `${String(lane + 1).padStart(2)} |${row.join('')}|`),
    `   |${load.join('')}| cores in use, in tenths`,
    `   0${`${(end / 60).toFixed(1)} min`.padStart(COLUMNS)}`,
  ].join('\n');
};
