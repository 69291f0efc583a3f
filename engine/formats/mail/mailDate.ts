const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
/** Offsets that are still written by their names (RFC 5322 4.3), in minutes. */
const NAMED: ReadonlyMap<string, number> = new Map([
  ...['GMT', 'UT', 'UTC', 'Z'].map((name) => [name, 0] as const),
  ...['E', 'C', 'M', 'P'].flatMap((zone, index) => [
    [`${zone}ST`, -60 * (5 + index)] as const,
    [`${zone}DT`, -60 * (4 + index)] as const,
  ]),
]);
const HEADER_MAX = 200;
const DAY = String.raw`(?<!\d)(\d{1,2})[ -]+([A-Za-z]{3})[a-z]*[ -]+(\d{4}|\d{2})`;
const CLOCK = String.raw`(\d{1,2}):(\d{2})(?::(\d{2}))?(?: +([+-]\d{4}|[A-Z]{1,3}))?`;
const DATE = new RegExp(`${DAY} +${CLOCK}`);

/**
 * The date of a header as its sender's clock showed it: `2025-03-05T00:30:00+01:00`; undefined where it is written in
 * no known way.
 */
export function mailDate(header: string): string | undefined {
  const match = DATE.exec(header.replace(/\s+/g, ' ').slice(0, HEADER_MAX));
  const days = match === null ? undefined : dayOf(match);
  if (match === null || days === undefined) return undefined;
  const [hour = '', minute = '', second = '00', zone] = match.slice(4);
  const clock = `${hour.padStart(2, '0')}:${minute}:${second}`;
  const local = new Date(`${days}T${clock}Z`);
  if (Number.isNaN(local.getTime()) || !local.toISOString().startsWith(days)) return undefined;
  const offset = offsetOf(zone);
  return offset === '' ? local.toISOString() : `${days}T${clock}${offset}`;
}

function dayOf([, day = '', name = '', years = '']: RegExpExecArray): string | undefined {
  const month = MONTHS.indexOf(name.toLowerCase()) + 1;
  const century = Number(years) < 50 ? '20' : '19';
  const year = years.length === 4 ? years : `${century}${years}`;
  return month === 0 ? undefined : `${year}-${two(month)}-${two(Number(day))}`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `+01:00`; '' is universal time, and where no zone is known. */
function offsetOf(zone = ''): string {
  const named = NAMED.get(zone);
  const minutes = named ?? (/^[+-]/.test(zone) ? minutesOf(zone) : 0);
  if (minutes === 0) return '';
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

const minutesOf = (zone: string): number =>
  Number(zone.slice(0, 3)) * 60 + Number(`${zone.charAt(0)}${zone.slice(3)}`);
