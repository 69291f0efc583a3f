import { calendarDay, NUMERIC, yearOf } from './dates.ts';

const US_STATE =
  '(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|' +
  'V[AT]|W[AIVY])';
/** What is written so in the United States alone: town with state and ZIP, telephone, law, zone of time. */
const US_SIGNS: readonly RegExp[] = [
  new RegExp(String.raw`, ${US_STATE},? \d{5}(?:-\d{4})?\b`),
  /(?<![\d+])(?:\(\d{3}\) ?|1-\d{3}-)\d{3}-\d{4}(?!\d)/,
  /\b[Ss]tate of (?!Israel|Kuwait|Qatar|Libya|Palestine)[A-Z]/,
  /\d\s?[ap]\.?m\.? [ECMP][SD]T\b/i,
];
const TERM = new RegExp(
  String.raw`(?<![\p{L}\p{N}.,])(\d{1,3})[- ]?` +
    String.raw`(days?|months?|mo\.|years?|Tagen?|Monaten?|jours|mois|días|meses|giorni|mesi)(?!\p{L})`,
  'iu',
);

/** Dates and terms of a long document are enough to tell. */
const DATES_MAX = 16;
const TERMS_MAX = 6;

/**
 * Whether dates put the day first, decided once for a document. A part above 12 says so; else a term that the
 * document names and that lies between two of its dates in one order only; else it is assumed but for documents
 * of the United States.
 */
export function voteDayFirst(texts: Iterable<string>): boolean {
  const seen: Seen = { votes: 0, signs: 0, dates: [], terms: [] };
  for (const text of texts) look(text, seen);
  if (seen.votes !== 0) return seen.votes > 0;
  const byTerms = termVotes(seen);
  return byTerms === 0 ? seen.signs === 0 : byTerms > 0;
}

interface Seen {
  votes: number;
  signs: number;
  readonly dates: RegExpExecArray[];
  readonly terms: Term[];
}

interface Term {
  readonly count: number;
  readonly isDays: boolean;
}

function look(text: string, seen: Seen): void {
  if (US_SIGNS.some((sign) => sign.test(text))) seen.signs += 1;
  for (const match of text.matchAll(NUMERIC)) lookAt(match, seen);
  const [, count, unit = ''] = TERM.exec(text) ?? [];
  if (count !== undefined && seen.terms.length < TERMS_MAX)
    seen.terms.push(termOf(Number(count), unit.toLowerCase()));
}

function lookAt(match: RegExpExecArray, seen: Seen): void {
  const [, a = '', , b = ''] = match;
  if (a.length > 2) return;
  seen.votes += Number(Number(a) > 12) - Number(Number(b) > 12);
  if (seen.dates.length < DATES_MAX) seen.dates.push(match);
}

const termOf = (count: number, unit: string): Term =>
  /^(?:d|tag|j|g)/.test(unit)
    ? { count, isDays: true }
    : { count: /^y/.test(unit) ? 12 * count : count, isDays: false };

/** Pairs of dates that lie a term apart, day first less those month first. */
function termVotes({ dates, terms }: Seen): number {
  const apart = (dayFirst: boolean): number => {
    const days = dates.flatMap((match) => dayOf(match, dayFirst) ?? []);
    return days.reduce(
      (sum, from) => sum + days.filter((to) => terms.some((term) => isApart(from, to, term))).length,
      0,
    );
  };
  return apart(true) - apart(false);
}

const DAY_MS = 86_400_000;
/** A term of a month may end on the day itself, the day before or the day after. */
const DAYS_OFF = 1;

function isApart(from: Date, to: Date, { count, isDays }: Term): boolean {
  const end = new Date(from);
  if (isDays) end.setUTCDate(end.getUTCDate() + count);
  else end.setUTCMonth(end.getUTCMonth() + count);
  return to > from && Math.abs(end.getTime() - to.getTime()) <= DAYS_OFF * DAY_MS;
}

function dayOf([, a = '', , b = '', c = '']: RegExpExecArray, dayFirst: boolean): Date | undefined {
  const [day, month] = dayFirst ? [Number(a), Number(b)] : [Number(b), Number(a)];
  const iso = c.length === 3 ? undefined : calendarDay(yearOf(c), month, day);
  return iso === undefined ? undefined : new Date(iso);
}
