/** Clocks and days of the world differ by so much. */
const AHEAD_MAX_MS = 24 * 60 * 60_000;

/** A time that no clock and no day of the world explain, and the member that says it. */
export interface TimeInFuture {
  readonly code: 'time_in_future';
  readonly member: string;
}

export const timeInFuture = (at: string, now: string, member: string): TimeInFuture | undefined =>
  Date.parse(at) - Date.parse(now) > AHEAD_MAX_MS ? { code: 'time_in_future', member } : undefined;
