import { InvalidArgumentError } from 'commander';
import { OperatorError } from '../operator/protocol.ts';

const DAY_MS = 86_400_000;
const DAYS = /^([1-9]\d{0,4})d$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * A time as RFC 3339 UTC with milliseconds, of a date (its start, UTC), an RFC 3339 time, or `90d`, so many
 * days from `nowMs`. Throws OperatorError that names `option`.
 */
export const instantGiven = (option: string, text: string, nowMs = Date.now()): string => {
  const days = DAYS.exec(text)?.[1];
  if (days !== undefined) return new Date(nowMs + Number(days) * DAY_MS).toISOString();
  const at = INSTANT.test(text) ? Date.parse(text) : NaN;
  // A day that a month does not have is taken for one of the next.
  const isDay = !Number.isNaN(at) && !Number.isNaN(Date.parse(`${text.slice(0, 10)}T00:00:00Z`));
  if (!isDay || new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().slice(0, 10) !== text.slice(0, 10))
    throw new OperatorError(
      `${option}: ${text} is no time. Give a date (2027-01-31), a time (2027-01-31T12:00:00Z) or days from now (90d).`,
      2,
    );
  return new Date(at).toISOString();
};

/** The value of an option that takes an RFC 3339 time or a UTC day, of which it means the time `ofDay`. */
export const momentOption =
  (ofDay: string) =>
  (text: string): string => {
    const time = Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T${ofDay}Z` : text);
    if (Number.isNaN(time))
      throw new InvalidArgumentError('Give a day like 2026-01-31, or an RFC 3339 time.');
    return new Date(time).toISOString();
  };
