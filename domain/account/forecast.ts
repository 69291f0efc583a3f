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

/**
 * What was used of late, by UTC day, beside a total that is counted elsewhere: so a day costs nothing until the next
 * one begins.
 */
export interface RecentUse {
  /** The latest day; '' where nothing was used yet. */
  readonly day: string;
  /** The total when that day began. */
  readonly begun: number;
  /** Credits of the day before it, of the one before that, and so on: `PACE_DAYS_MAX` days with the latest at most. */
  readonly used: readonly number[];
}

export const NO_USE: RecentUse = { day: '', begun: 0, used: [] };

/**
 * Recent use at a time at which more is used; `total`: all before it. What a clock that was set back says is of an
 * earlier day is counted in the latest one.
 */
export const useAt = (recent: RecentUse, at: string, total: number): RecentUse => {
  const { day: latest, begun, used } = recent;
  if (latest !== '' && (at.startsWith(latest) || at < latest)) return recent;
  const day = at.slice(0, 10);
  if (latest === '') return { day, begun: total, used };
  const between = Math.min(dayNumber(day) - dayNumber(latest), PACE_DAYS_MAX) - 1;
  const sums = [...Array<number>(between).fill(0), total - begun, ...used];
  return { day, begun: total, used: sums.slice(0, PACE_DAYS_MAX - 1) };
};

/** When something that is used up little by little has nothing left; RFC 3339 UTC with milliseconds. */
export interface ExpectedEnd {
  readonly expected_end_at_7_days: string | null;
  readonly expected_end_at_28_days: string | null;
}

/** What is used up: credits that are left, what was used in all and of late, and since when that is counted. */
export interface UsedUp {
  readonly left: number;
  readonly total: number;
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
const endAt = ({ left, total, recent, counted_since, resets_at }: UsedUp, pace: number, now: string) => {
  if (left <= 0) return now;
  const today = dayNumber(now.slice(0, 10));
  const days = Math.min(pace, Math.max(1, today - dayNumber(counted_since.slice(0, 10)) + 1));
  const latest = dayNumber(recent.day);
  const used = [total - recent.begun, ...recent.used].reduce((sum, credits, before) => {
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
