const DAY_MS = 86_400_000;

/** As `2026-03-29, 01:59:59`; years have four digits from 1000 on. */
const clockOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-CA-u-ca-gregory-nu-latn', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });

/** Whether a text names a zone of the IANA database: an alias too, but no offset. */
export const isTimeZone = (name: string): boolean => {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return clockOf(name).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
};

/** The names to choose from. */
export const timeZoneNames = (): readonly string[] => ['UTC', ...Intl.supportedValuesOf('timeZone')];

/** How far the zone's clock is ahead of UTC, ms. */
const aheadAt = (clock: Intl.DateTimeFormat, at: number): number => {
  const second = Math.floor(at / 1000) * 1000;
  const parts = new Map(clock.formatToParts(second).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const days = Date.UTC(part('year'), part('month') - 1, part('day'));
  return days + ((part('hour') * 60 + part('minute')) * 60 + part('second')) * 1000 - second;
};

/** The first ms after `from` at which the clock is set, if it differs at `to`; to the second, as the database is. */
const setBetween = (clock: Intl.DateTimeFormat, from: number, to: number): number => {
  const before = aheadAt(clock, from);
  let [early, late] = [from, to];
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (aheadAt(clock, middle) === before) early = middle;
    else late = middle;
  }
  return late;
};

/** A time in which the clock is not set. `ahead`: of UTC, ms. */
interface Steady {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly ahead: number;
}

/** Looks once a day: no zone has ever set its clock twice within one and ended as it began. */
function* steadyTimes(timeZone: string, from: number, to: number): Generator<Steady> {
  const clock = clockOf(timeZone);
  let begin = from;
  let ahead = aheadAt(clock, from);
  for (let at = from; at < to;) {
    const next = Math.min(to, at + DAY_MS);
    if (aheadAt(clock, next) === ahead) at = next;
    else {
      at = setBetween(clock, at, next);
      yield { from: begin, to: at, ahead };
      begin = at;
      ahead = aheadAt(clock, at);
    }
  }
  if (begin < to) yield { from: begin, to, ahead };
}

/** A time that lies in one day of a zone; RFC 3339 UTC with milliseconds, both ends included. */
export interface LocalDay {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly from: string;
  readonly to: string;
}

const textOf = (at: number): string => new Date(at).toISOString();

/** The days of a zone within a time, in order; a day whose clock is set at midnight may come twice. */
export const localDays = (timeZone: string, from: string, to: string): readonly LocalDay[] => {
  const days: LocalDay[] = [];
  for (const steady of steadyTimes(timeZone, Date.parse(from), Date.parse(to) + 1)) {
    for (let at = steady.from; at < steady.to;) {
      const midnight = (Math.floor((at + steady.ahead) / DAY_MS) + 1) * DAY_MS - steady.ahead;
      const end = Math.min(midnight, steady.to);
      const day = textOf(at + steady.ahead).slice(0, 10);
      const last = days.at(-1);
      if (last?.day === day) days[days.length - 1] = { ...last, to: textOf(end - 1) };
      else days.push({ day, from: textOf(at), to: textOf(end - 1) });
      at = end;
    }
  }
  return days;
};

/** A time within one group of days; RFC 3339 UTC with milliseconds, both ends included. */
export interface LocalPeriod {
  readonly key: string;
  readonly from: string;
  readonly to: string;
}

/** The days of a zone within a time, those that follow each other with one key as one. */
export const localPeriods = (
  timeZone: string,
  { from, to }: { readonly from: string; readonly to: string },
  keyOf: (day: string) => string,
): readonly LocalPeriod[] => {
  const periods: LocalPeriod[] = [];
  for (const { day, ...time } of localDays(timeZone, from, to)) {
    const key = keyOf(day);
    const last = periods.at(-1);
    if (last?.key === key) periods[periods.length - 1] = { ...last, to: time.to };
    else periods.push({ key, ...time });
  }
  return periods;
};

/** The week of ISO 8601 that a day is in: `2026-W05`. */
export const isoWeekOf = (day: string): string => {
  const at = Date.parse(day);
  const thursday = new Date(at + (3 - ((new Date(at).getUTCDay() + 6) % 7)) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / DAY_MS / 7) + 1;
  return `${String(year).padStart(4, '0')}-W${String(week).padStart(2, '0')}`;
};

/** Zones say nothing of days that nothing is booked in: those are UTC. */
const isBooked = (day: string): boolean => day > '1900-01-01' && day < '9990-01-01';

const instantOf = (timeZone: string, day: string): number => {
  if (timeZone === 'UTC' || !isBooked(day)) return Date.parse(day);
  const at = Date.parse(day);
  const around = localDays(timeZone, textOf(at - 2 * DAY_MS), textOf(at + 2 * DAY_MS));
  // A day that the zone left out begins with the one after it.
  return Date.parse((around.find((one) => one.day >= day) ?? { from: textOf(at) }).from);
};

/** The first instant of a day in a zone. */
export const dayStartIn = (timeZone: string, day: string): string => textOf(instantOf(timeZone, day));

/** The last instant of a day in a zone. */
export const dayEndIn = (timeZone: string, day: string): string => {
  if (!isBooked(day)) return `${day}T23:59:59.999Z`;
  return textOf(instantOf(timeZone, textOf(Date.parse(day) + DAY_MS).slice(0, 10)) - 1);
};

/** The day of a zone in which an instant lies. */
export const dayIn = (timeZone: string, at: string): string =>
  localDays(timeZone, at, at)[0]?.day ?? at.slice(0, 10);

/** A span of a calendar; weeks begin on Monday. */
export type CalendarPeriod = 'day' | 'week' | 'month';

/** The first days of the period that a day is in, and of the next one. */
const periodDays = (period: CalendarPeriod, day: string): readonly [first: string, next: string] => {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  const dayText = (ms: number) => textOf(ms).slice(0, 10);
  if (period === 'month') return [dayText(Date.UTC(year, month - 1, 1)), dayText(Date.UTC(year, month, 1))];
  const at = Date.UTC(year, month - 1, date);
  const first = period === 'day' ? at : at - ((new Date(at).getUTCDay() + 6) % 7) * DAY_MS;
  return [dayText(first), dayText(first + (period === 'day' ? 1 : 7) * DAY_MS)];
};

/** The time from one instant until before another; RFC 3339 UTC with milliseconds. */
export interface TimeSpan {
  readonly from: string;
  /** Exclusive: the next one begins with it. */
  readonly until: string;
}

/**
 * The day, week or month of a zone in which an instant lies. They follow each other without gap or overlap: where the
 * clock is set back over midnight, the new day has begun when it was there for the first time.
 */
export const periodAt = (timeZone: string, period: CalendarPeriod, at: string): TimeSpan => {
  const day = timeZone === 'UTC' ? at.slice(0, 10) : dayIn(timeZone, at);
  let [first, next] = periodDays(period, day);
  while (dayStartIn(timeZone, next) <= at) [first, next] = periodDays(period, next);
  return { from: dayStartIn(timeZone, first), until: dayStartIn(timeZone, next) };
};
