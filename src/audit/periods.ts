/** Periods of budgets, from what the platform prints as the day of an instant: nothing here is of the service. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

type Period = 'day' | 'week' | 'month';

/** Days that zones have ever been apart from UTC, and more than a clock was ever set back by. */
const [EARLIEST_MS, LATEST_MS, SET_BACK_MS] = [-16 * HOUR_MS, 36 * HOUR_MS, 4 * HOUR_MS];

const printers = new Map<string, Intl.DateTimeFormat>();

/** `YYYY-MM-DD` of a zone. */
const dayOf = (zone: string, ms: number): string => {
  const known = printers.get(zone);
  const members = { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const printer = known ?? new Intl.DateTimeFormat('sv-SE', members);
  if (known === undefined) printers.set(zone, printer);
  return printer.format(ms);
};

const dayText = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The first day of the period that a day is in. */
const firstOf = (period: Period, day: string): string => {
  if (period === 'month') return `${day.slice(0, 8)}01`;
  if (period === 'day') return day;
  const ms = Date.parse(day);
  return dayText(ms - ((new Date(ms).getUTCDay() + 6) % 7) * DAY_MS);
};

/** The first day of the next period: a month has at most 31 days. */
const nextOf = (period: Period, first: string): string => {
  const days = { day: 1, week: 7, month: 31 }[period];
  return firstOf(period, dayText(Date.parse(first) + days * DAY_MS));
};

/** Starts of days that were looked for, ms: budgets of one zone begin anew together. */
const starts = new Map<string, number>();
const STARTS_MAX = 10_000;

/** The first minute that a zone calls by this day or a later one: hour by hour, then back by minutes. */
const lookedFor = (zone: string, day: string): number => {
  const around = Date.parse(day);
  let at = around + EARLIEST_MS;
  while (dayOf(zone, at) < day && at < around + LATEST_MS) at += HOUR_MS;
  let first = at - SET_BACK_MS;
  while (dayOf(zone, first) < day) first += MINUTE_MS;
  return first;
};

const startOf = (zone: string, day: string): number => {
  if (zone === 'UTC') return Date.parse(day);
  const name = `${zone} ${day}`;
  const known = starts.get(name);
  if (known !== undefined) return known;
  if (starts.size >= STARTS_MAX) starts.clear();
  const found = lookedFor(zone, day);
  starts.set(name, found);
  return found;
};

/** The period of a zone in which an instant lies: a day has begun once the zone's clock has shown it. */
export const auditedPeriod = (
  zone: string,
  period: Period,
  at: string,
): { readonly from: string; readonly until: string } => {
  const ms = Date.parse(at);
  let first = firstOf(period, zone === 'UTC' ? at.slice(0, 10) : dayOf(zone, ms));
  while (startOf(zone, nextOf(period, first)) <= ms) first = nextOf(period, first);
  const [from, until] = [startOf(zone, first), startOf(zone, nextOf(period, first))];
  return { from: new Date(from).toISOString(), until: new Date(until).toISOString() };
};

/** Days of the paces of forecasts, and the most days that one looks ahead. */
const [PACES, LONGEST, AHEAD_DAYS] = [{ week: 7, month: 28 }, 28, 36_500] as const;

/** What a budget counted by UTC day. */
export type DayBook = Map<string, number>;

const latestOf = (days: DayBook): string => [...days.keys()].reduce((a, b) => (a > b ? a : b), '');
const daysBefore = (day: string, days: number): string => dayText(Date.parse(day) - days * DAY_MS);

/** Adds a burn: never to a day before the latest. Days before the longest pace are left out. */
export const countDay = (days: DayBook, at: string, credits: number): void => {
  const latest = latestOf(days);
  const day = at.slice(0, 10) < latest ? latest : at.slice(0, 10);
  days.set(day, (days.get(day) ?? 0) + credits);
  const oldest = daysBefore(day, LONGEST - 1);
  for (const one of days.keys()) if (one < oldest) days.delete(one);
};

/** A budget whose end is expected. */
interface Ending {
  readonly left: number;
  readonly days: DayBook;
  readonly since: string;
  readonly until: string | null;
}

const endWithin = ({ left, days, since, until }: Ending, pace: number, now: string): string | null => {
  if (left <= 0) return now;
  const today = now.slice(0, 10);
  const oldest = [daysBefore(today, pace - 1), since.slice(0, 10)].reduce((a, b) => (a > b ? a : b));
  const counted = Math.max(1, (Date.parse(today) - Date.parse(oldest)) / DAY_MS + 1);
  const from = oldest > today ? today : oldest;
  const used = [...days].reduce((sum, [day, some]) => (day >= from && day <= today ? sum + some : sum), 0);
  if (used <= 0) return null;
  const ms = (BigInt(left) * BigInt(counted) * BigInt(DAY_MS)) / BigInt(used);
  if (ms > BigInt(AHEAD_DAYS) * BigInt(DAY_MS)) return null;
  const end = new Date(Date.parse(now) + Number(ms)).toISOString();
  return until !== null && end >= until ? null : end;
};

/** When a budget is expected to reach its limit, as an alert says it. */
export const auditedEnd = (of: Ending, now: string) => ({
  expected_end_at_7_days: endWithin(of, PACES.week, now),
  expected_end_at_28_days: endWithin(of, PACES.month, now),
});
