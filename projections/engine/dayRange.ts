/** A stretch of time, both ends included: RFC 3339 UTC with milliseconds, so that text order is time order. */
export interface TimeRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A range of time as whole UTC days, which roll-ups have, and pieces of days, which only rows have. */
interface DayRange {
  /** First and last whole day, `YYYY-MM-DD`; none when the first comes after the last. */
  readonly firstDay: string;
  readonly lastDay: string;
  readonly pieces: readonly { readonly from: string; readonly to: string }[];
}

const DAY_START = 'T00:00:00.000Z';
const DAY_END = 'T23:59:59.999Z';
const DAY_MS = 86_400_000;
const FIRST_DAY = '0000-01-01';
const LAST_DAY = '9999-12-31';

const dayOf = (time: string): string => time.slice(0, 10);
const dayAfter = (day: string, days: number): string =>
  dayOf(new Date(Date.parse(`${day}${DAY_START}`) + days * DAY_MS).toISOString());

const least = (a: string, b: string | undefined): string => (b !== undefined && b < a ? b : a);

interface Cut {
  readonly day: string;
  readonly piece: { readonly from: string; readonly to: string } | undefined;
}

/** The first whole day of what begins at `from`, and the piece of a day before it. */
const cutStart = (from: string | undefined, to: string | undefined): Cut => {
  if (from === undefined) return { day: FIRST_DAY, piece: undefined };
  const day = dayOf(from);
  if (from.endsWith(DAY_START)) return { day, piece: undefined };
  return { day: dayAfter(day, 1), piece: { from, to: least(`${day}${DAY_END}`, to) } };
};

/** The last whole day of what ends at `to`, and the piece of a day after it. */
const cutEnd = (to: string | undefined): Cut => {
  if (to === undefined) return { day: LAST_DAY, piece: undefined };
  const day = dayOf(to);
  if (to.endsWith(DAY_END)) return { day, piece: undefined };
  return { day: dayAfter(day, -1), piece: { from: `${day}${DAY_START}`, to } };
};

/** Splits a range so that every instant of it is in exactly one of its whole days or pieces. */
export const dayRange = ({ from, to }: TimeRange): DayRange => {
  if (from !== undefined && to !== undefined && from > to)
    return { firstDay: LAST_DAY, lastDay: FIRST_DAY, pieces: [] };
  const [start, end] = [cutStart(from, to), cutEnd(to)];
  // A range that begins and ends within one day is one piece, which the start has cut already.
  const isOnePiece = start.piece !== undefined && end.piece !== undefined && start.day > dayOf(end.piece.to);
  const pieces = [start.piece, isOnePiece ? undefined : end.piece].filter((piece) => piece !== undefined);
  return { firstDay: start.day, lastDay: end.day, pieces };
};
