import { type Findings, type Place, placeOf, wrong } from './findings.ts';

/**
 * Clocks of several processes differ, by ten minutes where each is wrong by five, and a command is written up to a
 * minute beyond its caller's patience. Beyond this an event was put into a time that had passed, or a clock was set
 * back.
 */
export const BACKWARDS_MAX_MS = 12 * 60_000;

/**
 * So long a silence may be one in which the service did not run: what was open before it is settled when it is back,
 * within the same time.
 */
const SILENCE_MS = 5 * 60_000;

/** Part of the log that was recorded while a clock stood behind what had been recorded before. */
interface Step {
  readonly from: bigint;
  to: bigint;
  readonly byMs: number;
}

type Timed = Pick<Place, 'stream' | 'position'>;

/**
 * The time of the log as its events tell it, in their order. A clock that is set back takes everything that is written
 * after it along; an event that was put into a past time stands alone there. So a step begins where the next event of
 * another stream is in the past too.
 */
export const logClock = () => {
  const steps: Step[] = [];
  let [latestMs, lastMs] = [NaN, NaN];
  let suspect: (Timed & { readonly ms: number }) | undefined;
  let open: Step | undefined;
  /** The last one. */
  let silence = { fromMs: NaN, toMs: NaN };

  const inThePast = (event: Timed, ms: number): void => {
    if (open !== undefined) open.to = event.position;
    else if (suspect === undefined) suspect = { ...event, ms };
    else if (suspect.stream !== event.stream) {
      open = { from: suspect.position, to: event.position, byMs: latestMs - suspect.ms };
      steps.push(open);
    }
  };
  return {
    /** `ms`: when it was recorded; NaN where it does not say. */
    see: ({ stream, position }: Timed, ms: number): void => {
      if (Number.isNaN(ms)) return;
      lastMs = ms;
      if (ms < latestMs - BACKWARDS_MAX_MS) {
        inThePast({ stream, position }, ms);
        return;
      }
      [suspect, open] = [undefined, undefined];
      if (ms > latestMs + SILENCE_MS) silence = { fromMs: latestMs, toMs: ms };
      if (!(ms <= latestMs)) latestMs = ms;
    },
    /** Whether it is known of all events so far if they belong to a step. */
    isDecided: (): boolean => suspect === undefined || open !== undefined,
    /** The step that the event at a position belongs to. */
    stepAt: (position: bigint): Step | undefined => {
      let [low, high] = [0, steps.length];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((steps[middle]?.to ?? 0n) < position) low = middle + 1;
        else high = middle;
      }
      const step = steps[low];
      return step !== undefined && step.from <= position ? step : undefined;
    },
    /** All of them, in the order of the log. */
    steps: (): readonly Step[] => steps,
    /**
     * The present time at the log's end, by which something is open for too long: the last event's where a clock was
     * set back, else the latest. Shortly after a silence, the silence does not count. ms.
     */
    nowMs: (): number => {
      if (open !== undefined) return lastMs;
      const sinceMs = latestMs - silence.toMs;
      return sinceMs < SILENCE_MS ? silence.fromMs + sinceMs : latestMs;
    },
  };
};

type LogClock = ReturnType<typeof logClock>;

interface Backwards {
  readonly place: Place;
  readonly latestMs: number;
  readonly at: string;
}

const MINUTE_MS = 60_000;

/** Events that were recorded before their predecessors, until it is known whether a clock was set back. */
export const backwardsCheck = (findings: Findings, clock: LogClock) => {
  const found: Backwards[] = [];
  const told = new Map<Step, number>();
  const settle = (one: Backwards): void => {
    const step = clock.stepAt(one.place.position);
    if (step !== undefined) {
      told.set(step, (told.get(step) ?? 0) + 1);
      return;
    }
    const { stream, revision } = one.place;
    wrong(findings, 'time', one.place)(
      `${stream} revision ${revision} was recorded before its predecessor: time runs backwards.`,
      `not before ${new Date(one.latestMs).toISOString()}`,
      one.at,
    );
  };
  return {
    add: (place: Place, latestMs: number, at: string): void =>
      void found.push({ place: placeOf(place), latestMs, at }),
    /** Reports what can be told by now, so that findings have the order of the log. */
    tell: (): void => {
      if (found.length > 0 && clock.isDecided()) for (const one of found.splice(0)) settle(one);
    },
    /** Reports what is wrong, and notes each step: also one that only events of different streams show. */
    finish: (): void => {
      for (const one of found.splice(0)) settle(one);
      for (const step of clock.steps()) {
        const { from, to, byMs } = step;
        const events = told.get(step) ?? 0;
        const shown =
          events === 0
            ? 'events were recorded in a time that had passed, each after its predecessor'
            : `${events} ${events === 1 ? 'event was' : 'events were'} recorded before their predecessors`;
        findings.note(
          `A clock was set back by ${Math.round(byMs / MINUTE_MS)} minutes at position ${from}: up to ` +
            `position ${to}, ${shown}.`,
        );
      }
      told.clear();
    },
  };
};
