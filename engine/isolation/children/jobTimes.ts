/** Something that is to happen after so many ms. */
export type Due = readonly [ms: number, happens: () => void];

/** What a job may take of either time before something happens to it. */
export interface Dues {
  /** By its working time: on a processor, and never more than has passed. */
  readonly worked?: readonly Due[];
  /** By the time that has passed, whether or not the machine let it work. */
  readonly passed: readonly Due[];
}

/** The times of the job that a child does now: they stand still while the child is paused. */
export interface JobTimes {
  /** Ends what ran before, and begins anew. */
  readonly begin: (dues: Dues) => void;
  /** Adds what is to happen by working time, unless it is taken back by the next call. */
  readonly step: (due: Due | undefined) => void;
  /** Since it began: its time on a processor where that can be told, and never more than has passed, ms. */
  readonly workedMs: () => number;
  readonly stop: () => void;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly isPaused: () => boolean;
}

/** A clock that was read too early is not read again before this, ms. */
const LOOK_MS = 50;

interface Watch {
  readonly look: () => void;
  readonly rest: () => void;
}

/** Looks at a clock when the time could be over at the earliest, and again until it is. It happens once. */
function watchOn(clockMs: () => number, [ms, happens]: Due): Watch {
  const over = clockMs() + ms;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const rest = (): void => clearTimeout(timer);
  const lookAfter = (leftMs: number): void => {
    rest();
    timer = setTimeout(look, leftMs);
  };
  const look = (): void => {
    if (isOver) return;
    const leftMs = over - clockMs();
    isOver = leftMs <= 0;
    if (isOver) happens();
    else lookAfter(Math.max(LOOK_MS, leftMs));
  };
  lookAfter(ms);
  return { look, rest };
}

/** `cpuMs`: the CPU time of the child since its start; undefined where it cannot be told. */
export function jobTimes(cpuMs: () => number | undefined): JobTimes {
  let watches: readonly Watch[] = [];
  let ofStep: Watch | undefined;
  let pausedAt: number | undefined;
  let pausedMs = 0;
  const clockMs = (): number => (pausedAt ?? performance.now()) - pausedMs;
  let began = { atMs: clockMs(), cpuMs: cpuMs() };
  const passedMs = (): number => clockMs() - began.atMs;
  const workedMs = (): number => {
    const [before, now] = [began.cpuMs, cpuMs()];
    return before === undefined || now === undefined ? passedMs() : Math.min(passedMs(), now - before);
  };
  const watched = (clock: () => number, due: Due): Watch => {
    const watch = watchOn(clock, due);
    if (pausedAt !== undefined) watch.rest();
    return watch;
  };
  const all = (): readonly Watch[] => (ofStep === undefined ? watches : [...watches, ofStep]);
  const stop = (): void => {
    for (const watch of all()) watch.rest();
    [watches, ofStep] = [[], undefined];
  };
  return {
    begin: ({ worked = [], passed }) => {
      stop();
      began = { atMs: clockMs(), cpuMs: cpuMs() };
      watches = [
        ...worked.map((due) => watched(workedMs, due)),
        ...passed.map((due) => watched(passedMs, due)),
      ];
    },
    step: (due) => {
      ofStep?.rest();
      ofStep = due && watched(workedMs, due);
    },
    workedMs,
    stop,
    pause: () => {
      pausedAt ??= performance.now();
      for (const watch of all()) watch.rest();
    },
    resume: () => {
      if (pausedAt === undefined) return;
      pausedMs += performance.now() - pausedAt;
      pausedAt = undefined;
      for (const watch of all()) watch.look();
    },
    isPaused: () => pausedAt !== undefined,
  };
}
