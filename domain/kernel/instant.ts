/** The instant so many milliseconds after another; before it where they are negative. */
export const laterBy = (instant: string, ms: number): string =>
  new Date(Date.parse(instant) + ms).toISOString();
