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

const dayNumber = (day: string): number => Date.parse(day) / DAY_MS;

/** What was used of late: credits by UTC day, the latest of them first, of `PACE_DAYS_MAX` days at most. */
export interface RecentUse {
  /** Of the first sum; '' where nothing was used yet. */
  readonly day: string;
  /** Of this day, the day before it, and so on. */
  readonly used: readonly number[];
}

export const NO_USE: RecentUse = { day: '', used: [] };

/** Use with so many credits more on a day. What is older than the longest pace is forgotten. */
export const withUse = ({ day: latest, used }: RecentUse, day: string, credits: number): RecentUse => {
  if (latest === '') return { day, used: [credits] };
  const later = latest === day ? 0 : dayNumber(day) - dayNumber(latest);
  if (later > 0) {
    const between = Array<number>(Math.min(later, PACE_DAYS_MAX) - 1).fill(0);
    return { day, used: [credits, ...between, ...used].slice(0, PACE_DAYS_MAX) };
  }
  // A clock that was set back.
  if (-later >= PACE_DAYS_MAX) return { day: latest, used };
  const sums = [...used];
  while (sums.length <= -later) sums.push(0);
  sums[-later] = (sums[-later] ?? 0) + credits;
  return { day: latest, used: sums };
};

/** When something that is used up little by little has nothing left; RFC 3339 UTC with milliseconds. */
export interface ExpectedEnd {
  readonly expected_end_at_7_days: string | null;
  readonly expected_end_at_28_days: string | null;
}

/** What is used up: credits that are left, what was used of late, and since when that is counted. */
export interface UsedUp {
  readonly left: number;
  readonly recent: RecentUse;
  readonly counted_since: string;
  /** When it begins anew; null: never. */
  readonly resets_at: string | null;
}

const LAST_MS = DAYS_LEFT_MAX * DAY_MS;

/**
 * now + ⌊left × days ÷ used⌋, where `used` credits were counted within the last `days` UTC days, the present one
 * included, and `days` are at most those since counting began. Now where nothing is left; null without use, where it
 * begins anew by then, and beyond `DAYS_LEFT_MAX` days.
 */
const endAt = ({ left, recent, counted_since, resets_at }: UsedUp, pace: number, now: string) => {
  if (left <= 0) return now;
  const today = dayNumber(now.slice(0, 10));
  const days = Math.min(pace, Math.max(1, today - dayNumber(counted_since.slice(0, 10)) + 1));
  const latest = dayNumber(recent.day);
  const used = recent.used.reduce((sum, credits, before) => {
    const age = today - (latest - before);
    return age >= 0 && age < days ? sum + credits : sum;
  }, 0);
  if (used <= 0) return null;
  const ms = (BigInt(left) * BigInt(days * DAY_MS)) / BigInt(used);
  if (ms > BigInt(LAST_MS)) return null;
  const end = new Date(Date.parse(now) + Number(ms)).toISOString();
  return resets_at === null || end < resets_at ? end : null;
};

/** When it is used up, at the paces of 7 and 28 days. */
export const expectedEnd = (of: UsedUp, now: string): ExpectedEnd => ({
  expected_end_at_7_days: endAt(of, PACES[0], now),
  expected_end_at_28_days: endAt(of, PACES[1], now),
});
