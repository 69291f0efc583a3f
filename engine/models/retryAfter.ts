/**
 * Milliseconds that a provider asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.
 * null: it asks for nothing that can be understood.
 */
export const retryAfterMs = (header: (name: string) => string | null, nowMs: number): number | null => {
  const precise = wholeNumber(header('retry-after-ms'));
  if (precise !== null) return precise;
  const asked = header('retry-after');
  const seconds = wholeNumber(asked);
  if (seconds !== null) return seconds * 1_000;
  const at = asked === null ? Number.NaN : Date.parse(asked);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
};

/** Fractions are rounded up. */
const wholeNumber = (text: string | null): number | null =>
  text !== null && /^\s*\d{1,9}(?:\.\d+)?\s*$/u.test(text) ? Math.ceil(Number(text)) : null;
