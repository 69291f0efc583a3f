/** Milliseconds since 1970 of an RFC 3339 instant or a UTC day. Throws on what is neither. */
export const epochMs = (instant: string): number => {
  const ms = Date.parse(instant);
  if (Number.isNaN(ms)) throw new RangeError(`"${instant}" is not a time`);
  return ms;
};

/** The instant `ms` after (or, negative, before) another, RFC 3339 UTC with milliseconds. */
export const shifted = (instant: string, ms: number): string => new Date(epochMs(instant) + ms).toISOString();

/** The UTC day of an instant, `YYYY-MM-DD`. */
export const dayOf = (instant: string): string => shifted(instant, 0).slice(0, 10);

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
