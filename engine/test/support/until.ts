import { setTimeout as pause } from 'node:timers/promises';

/** How long anything here is waited for, ms: far more than it takes on a busy machine. */
const PATIENCE_MS = 180_000;

type Found<T> = Exclude<T, undefined | false>;

/** Looks again and again until there is something, or something is so; gives what was found. */
export const until = async <T>(
  look: () => T | Promise<T>,
  everyMs = 5,
  patienceMs = PATIENCE_MS,
): Promise<Found<T>> => {
  const began = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found as Found<T>;
    if (performance.now() - began > patienceMs) throw new Error(`waited in vain for ${look.toString()}`);
    await pause(everyMs);
  }
};
