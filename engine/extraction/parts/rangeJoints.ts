import { calendarDay, monthOf, type DateShape } from '../values/dates.ts';

const TO_WORDS =
  'to|until|till|through|and|bis(?:\\szum)?|au|et\\sle|al|hasta\\sel|a|e|y|tot(?:\\sen\\smet)?|t/m|do|até|ate';
const TO = `(?:\\s?[–—-]\\s?|\\s(?:${TO_WORDS})\\s)`;
const CURRENCY = '(?:€|EUR|\\$|£)?';
const ARTICLE = '(?:the|le|el|il|den|dem|dne|die|de)?';
const JOINT = new RegExp(`^\\s?${CURRENCY}${TO}${ARTICLE}\\s?${CURRENCY}\\s?$`, 'iu');

/** Stands between the ends of a range: "–", "to the", "bis zum". */
export const isJoint = (text: string): boolean => JOINT.test(text);

/** "18", "1 July", "1." before a whole date that has what is left out. */
const DAY_FIRST = new RegExp(
  `(?<![\\p{L}\\p{N}.,/-])(?<day>\\d{1,2})(?:st|nd|rd|th|er|º|\\.)?(?:\\s(?:de\\s)?(?<month>\\p{L}{3,10})\\.?)?${TO}$`,
  'iu',
);
/** "November 6 to" before such a date. */
const MONTH_FIRST = new RegExp(
  `(?<!\\p{L})(?<month>\\p{L}{3,10})\\s(?<day>\\d{1,2})(?:st|nd|rd|th)?${TO}$`,
  'iu',
);
const AT_END = new RegExp(`${TO}$`, 'iu');
const CHARACTERS = 40;

/** The first day of a range whose month or year is said of its last day alone. */
export function startBefore(text: string, end: DateShape): DateShape | undefined {
  const at = Math.max(0, end.from - CHARACTERS);
  const match = halfDate(text.slice(at, end.from));
  const day = match?.groups?.['day'];
  if (match === null || day === undefined) return undefined;
  const [year = 0, lastMonth = 0] = end.iso.split('-').map(Number);
  const month = match.groups?.['month'];
  const iso = calendarDay(year, month === undefined ? lastMonth : monthOf(month), Number(day));
  if (iso === undefined) return undefined;
  const from = at + match.index;
  const half = text.slice(from, end.from).replace(AT_END, '');
  return { from, to: from + half.length, text: half, iso };
}

function halfDate(before: string): RegExpExecArray | null {
  const early = MONTH_FIRST.exec(before);
  return early !== null && monthOf(early.groups?.['month']) > 0 ? early : DAY_FIRST.exec(before);
}
