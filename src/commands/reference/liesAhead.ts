/** Clocks and days of the world differ by so much. */
const AHEAD_MAX_MS = 24 * 60 * 60_000;

/** A time that no clock and no day of the world explain, and the member that says it. */
export interface LiesAhead {
  readonly code: 'lies_ahead';
  readonly member: string;
}

export const liesAhead = (at: string, now: string, member: string): LiesAhead | undefined =>
  Date.parse(at) - Date.parse(now) > AHEAD_MAX_MS ? { code: 'lies_ahead', member } : undefined;
