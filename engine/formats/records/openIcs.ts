import { ownMember } from '../../kernel/json.ts';
import type { Opener } from '../opened.ts';
import {
  readable,
  recordParts,
  shownTime,
  valueParts,
  type ContentLine,
  type RecordPart,
} from './contentLines.ts';
import labels from './labels.json' with { type: 'json' };
import { openRecords, type ReadRecord } from './openRecords.ts';

const ENTRY_LABELS: Readonly<Record<string, string>> = labels.entry;
const ENTRIES = new Set(['VEVENT', 'VTODO', 'VJOURNAL']);
const TIMES = new Set(['DTSTART', 'DTEND', 'DUE', 'COMPLETED', 'CREATED', 'LAST-MODIFIED', 'EXDATE']);
const PEOPLE = new Set(['ORGANIZER', 'ATTENDEE']);
const LISTS = new Set(['CATEGORIES', 'RESOURCES']);

/** Opens calendars (iCalendar): events, tasks and journals with their values under plain labels. */
export const openIcs: Opener = ({ text = '' }) => {
  const calendars = recordParts(text).filter(({ kind }) => kind === 'VCALENDAR');
  const named = calendars.flatMap(({ lines }) => lines).find(({ name }) => TITLES.has(name));
  const title = named === undefined ? '' : readable(named.value);
  const entries = calendars.flatMap(({ parts }) => parts).filter(({ kind }) => ENTRIES.has(kind));
  return Promise.resolve(
    openRecords({
      mimeType: 'text/calendar',
      title: title === '' ? null : title,
      records: entries.map(entryOf),
    }),
  );
};

const TITLES = new Set(['NAME', 'X-WR-CALNAME']);

function entryOf({ lines }: RecordPart): ReadRecord {
  const order = Object.keys(ENTRY_LABELS);
  return lines
    .filter(({ name }) => Object.hasOwn(ENTRY_LABELS, name))
    .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    .map((line) => ({ label: ownMember(ENTRY_LABELS, line.name) ?? line.name, value: shownOfEntry(line) }))
    .filter(({ value }) => value !== '');
}

function shownOfEntry({ name, parameters, value }: ContentLine): string {
  const zone = parameters.get('TZID')?.[0];
  if (TIMES.has(name))
    return value
      .split(',')
      .map((time) => shownTime(time, zone))
      .join(', ');
  if (LISTS.has(name)) return valueParts(value, ',').join(', ');
  if (!PEOPLE.has(name)) return readable(value);
  const address = value.replace(/^mailto:/i, '').trim();
  const called = parameters.get('CN')?.[0];
  return called === undefined || called === '' || called === address ? address : `${called} <${address}>`;
}
