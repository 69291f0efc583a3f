import { randomFillSync, randomUUID } from 'node:crypto';
import { monotonicFactory } from 'ulid';
import type { Clock } from '../../domain/ports/clock.ts';

const POOL_BYTES = 4096;

/** Random fractions in 256ths, from bytes fetched many at a time: an ID takes sixteen. */
const randomFractions = (): (() => number) => {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return () => {
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    used += 1;
    return (pool[used - 1] ?? 0) / 256;
  };
};

/** Many ask within one millisecond, and its text is always the same. */
const instants = (): (() => string) => {
  let lastMs = Number.NaN;
  let text = '';
  return () => {
    const ms = Date.now();
    if (ms === lastMs) return text;
    lastMs = ms;
    return (text = new Date(ms).toISOString());
  };
};

/** The machine's clock. IDs made within one millisecond still sort in the order they were made. */
export const systemClock = (): Clock => {
  const ulid = monotonicFactory(randomFractions());
  return {
    now: instants(),
    newId: (prefix) => `${prefix}_${ulid()}`,
    uuid: () => randomUUID(),
  };
};
