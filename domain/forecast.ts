/** UTC days of the paces that forecasts are made at, the present day included. */
const PACES = [7, 28] as const;

/** Days of the longest pace. */
export const PACE_DAYS_MAX = 28;

/** A hundred years: whatever lasts longer is told as these days. */
export const DAYS_LEFT_MAX = 36_500;

const DAY_MS = 86_400_000;

/** The first day of a pace of so many days that ends on a day; `YYYY-MM-DD`. */
export const paceStart = (day: string, days: number): string =>
  new Date(Date.parse(day) - (days - 1) * DAY_MS).toISOString().slice(0, 10);

/**
 * Whole days for which credits last at a pace: ⌊credits × days ÷ used⌋, where `used` credits were burned within the
 * last `days` UTC days; at most `DAYS_LEFT_MAX`. 0 where nothing is left; null without use, which says nothing about
 * the future.
 */
export const daysLeft = (credits: number, used: number, days: number): number | null => {
  if (used <= 0) return null;
  if (credits <= 0) return 0;
  const left = (BigInt(credits) * BigInt(days)) / BigInt(used);
  return left > BigInt(DAYS_LEFT_MAX) ? DAYS_LEFT_MAX : Number(left);
};

/** How long credits last, in whole days; null: nothing was used within the days of the pace. */
export interface Forecast {
  readonly days_left_at_7_days: number | null;
  readonly days_left_at_28_days: number | null;
}

/** The forecast for credits at the end of a day; `used`: credits burned by day, of these days at least. */
export const forecastOf = (
  credits: number,
  used: Iterable<readonly [day: string, credits: number]>,
  today: string,
): Forecast => {
  const days = [...used];
  const [week, month] = PACES.map((pace) => {
    const from = paceStart(today, pace);
    const within = days.filter(([day]) => day >= from && day <= today);
    return daysLeft(
      credits,
      within.reduce((sum, [, burned]) => sum + burned, 0),
      pace,
    );
  });
  return { days_left_at_7_days: week ?? null, days_left_at_28_days: month ?? null };
};
