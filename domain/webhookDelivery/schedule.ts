import { laterBy } from '../kernel/instant.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;

/** The first pause, ms; each later one is four times as long. */
const FIRST_MS = 5 * SECOND_MS;
const FACTOR = 4;
const LONGEST_MS = 24 * HOUR_MS;

/** How long a delivery is tried, and a webhook may fail before it is disabled, ms. */
export const GIVEN_UP_AFTER_MS = 72 * HOUR_MS;

/** The last instant at which a delivery that began at another is tried. */
export const triedUntil = (since: string): string => laterBy(since, GIVEN_UP_AFTER_MS);

/**
 * The pause after a failed attempt, ms: 5 s, 20 s, 80 s … 24 h, up to a fifth longer or shorter by `random`
 * (0 to 1), so that what failed together does not come back together. A receiver that names a pause gets that,
 * where it is longer, up to 24 h.
 */
export const pauseAfter = (attempts: number, random: number, askedMs = 0): number => {
  const pause = Math.min(LONGEST_MS, FIRST_MS * FACTOR ** Math.min(attempts - 1, 10));
  const jittered = pause * (0.8 + 0.4 * random);
  return Math.round(Math.min(LONGEST_MS, Math.max(jittered, askedMs, FIRST_MS)));
};
