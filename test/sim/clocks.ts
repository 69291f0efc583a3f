import type { Timers } from '../../projections/engine/ports.ts';
import { chance, fraction } from './chance.ts';

const HOUR = 3_600_000;

/** How a wall clock differs from the right time. */
export interface WallClock {
  /** From the start, ms. */
  readonly offsetMs?: number;
  /** Millionths by which it goes too fast. */
  readonly driftPpm?: number;
  /** It is set by so much, virtual ms after the start. */
  readonly steps?: readonly { readonly at: number; readonly byMs: number }[];
}

/** By how much a clock is wrong at a virtual time, ms. */
export const errorAt = ({ offsetMs = 0, driftPpm = 0, steps = [] }: WallClock, now: number): number =>
  steps.reduce((sum, { at, byMs }) => (at <= now ? sum + byMs : sum), offsetMs + (now * driftPpm) / 1e6);

/** The most that a clock is wrong by within `lastMs`, ms. */
export const errorMaxOf = ({ offsetMs = 0, driftPpm = 0, steps = [] }: WallClock, lastMs: number): number =>
  Math.abs(offsetMs) +
  Math.abs(driftPpm * lastMs) / 1e6 +
  steps.reduce((sum, { byMs }) => sum + Math.abs(byMs), 0);

/** A step of up to twenty minutes back or five forth, within seconds, minutes or a day. */
const stepOf = (seed: number, name: string) => ({
  at: [20_000, 600_000, 26 * HOUR][chance(seed, 'step late', name) % 3]! * fraction(seed, 'step at', name),
  byMs: (chance(seed, 'step by', name) % 1_500_000) - 1_200_000,
});

/** In some worlds clocks are apart, in some they drift, and in some they are set. */
export const clockOf = (seed: number, name: string): WallClock => ({
  offsetMs: fraction(seed, 'skew') < 0.3 ? (chance(seed, name) % 600_000) - 300_000 : 0,
  ...(fraction(seed, 'drift') < 0.3 && { driftPpm: (chance(seed, 'ppm', name) % 400) - 200 }),
  ...(fraction(seed, 'steps') < 0.2 && { steps: [stepOf(seed, name)] }),
});

/** Time for loops that wait, as the simulated clock has it. */
export const timersOf = (sched: Pick<Timers, 'nowMs'>): Timers => ({
  nowMs: sched.nowMs,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal?.addEventListener('abort', end, { once: true });
    }),
});
