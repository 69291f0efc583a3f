import { randomUUID } from 'node:crypto';
import { monotonicFactory } from 'ulid';
import type { Clock } from '../../domain/ports/clock.ts';

/** The machine's clock. IDs made within one millisecond still sort in the order they were made. */
export const systemClock = (): Clock => {
  const ulid = monotonicFactory();
  return {
    now: () => new Date().toISOString(),
    newId: (prefix) => `${prefix}_${ulid()}`,
    uuid: () => randomUUID(),
  };
};
