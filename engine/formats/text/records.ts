import { tableOf, type Block } from '../../document/document.ts';
import { escapeText } from '../../document/inline.ts';
import { openFlow } from '../pieces/flow.ts';
import type { OpenedDocument, Opener } from '../pieces/opened.ts';
import { ownMember } from '../../kernel/json.ts';
import labels from './recordLabels.json' with { type: 'json' };

/** A line of a card or calendar: a property, its parameters, and its value as it stands. */
interface ContentLine {
  /** In capitals, without the group that it belongs to. */
  readonly name: string;
  /** By their names in capitals. A parameter without a value is a type, as it was in the first version. */
  readonly parameters: ReadonlyMap<string, readonly string[]>;
  readonly value: string;
}

/** A card, an entry of a calendar, or what holds such: between its `BEGIN` and its `END`. */
interface RecordPart {
  readonly kind: string;
  readonly lines: readonly ContentLine[];
  readonly parts: readonly RecordPart[];
}

const DEPTH_MAX = 16;

/** The parts of a text of content lines (RFC 6350 and 5545). What is never ended ends with the text. */
function recordParts(text: string): readonly RecordPart[] {
  const root = { kind: '', lines: [] as ContentLine[], parts: [] as RecordPart[] };
  const stack = [root];
  for (const raw of unfolded(text)) {
    const line = contentLine(raw);
    const top = stack[stack.length - 1];
    if (line === undefined || top === undefined) continue;
    if (line.name === 'BEGIN') {
      const part = { kind: line.value.trim().toUpperCase(), lines: [], parts: [] };
      if (stack.length <= DEPTH_MAX) top.parts.push(part);
      stack.push(part);
    } else if (line.name === 'END') {
      if (stack.length > 1) stack.pop();
    } else top.lines.push(line);
  }
  return root.parts;
}

const QUOTED_PRINTABLE = /;(?:ENCODING=)?QUOTED-PRINTABLE[;:]/i;

/** Lines that go on begin with white space, or follow a `=` at the end of quoted-printable ones. */
function unfolded(text: string): readonly string[] {
  const lines: string[][] = [];
  for (const raw of text.split('\n')) {
    const last = lines[lines.length - 1];
    if (last !== undefined && /^[ \t]/.test(raw)) last.push(raw.slice(1));
    else if (last !== undefined && goesOn(last)) last.push(`\n${raw}`);
    else lines.push([raw]);
  }
  return lines.map((parts) => parts.join(''));
}

const goesOn = (parts: readonly string[]): boolean =>
  (parts[parts.length - 1] ?? '').endsWith('=') && QUOTED_PRINTABLE.test(parts[0] ?? '');

function contentLine(raw: string): ContentLine | undefined {
  const [head, value] = partedAt(raw, ':');
  if (value === undefined) return undefined;
  const [named = '', ...rest] = splitOutside(head, ';');
  const name = named
    .slice(named.lastIndexOf('.') + 1)
    .trim()
    .toUpperCase();
  const parameters = new Map<string, string[]>();
  for (const parameter of rest) {
    const [key, values] = partedAt(parameter, '=');
    const known = values === undefined ? 'TYPE' : key.trim().toUpperCase();
    const all = splitOutside(values ?? key, ',').map((one) => one.replace(/"/g, '').trim());
    const same = parameters.get(known);
    if (same === undefined) parameters.set(known, all);
    else for (const one of all) same.push(one);
  }
  return { name, parameters, value: decoded(value, parameters) };
}

/** Around the first of a sign that is not in quotes. */
function partedAt(text: string, sign: string): readonly [string, string | undefined] {
  const [head = ''] = splitOutside(text, sign, 2);
  return head.length === text.length ? [head, undefined] : [head, text.slice(head.length + 1)];
}

function splitOutside(text: string, sign: string, most = Infinity): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length && parts.length + 1 < most; at += 1) {
    if (text[at] === '"') isQuoted = !isQuoted;
    else if (text[at] === sign && !isQuoted) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)];
}

/** Cards of version 2.1 write letters as numbers. */
function decoded(value: string, parameters: ReadonlyMap<string, readonly string[]>): string {
  const encodings = [...(parameters.get('ENCODING') ?? []), ...(parameters.get('TYPE') ?? [])];
  if (!encodings.some((one) => one.toUpperCase() === 'QUOTED-PRINTABLE')) return value;
  const bytes = value
    .replace(/=\r?\n/g, '')
    .replace(/[^\u0000-\u007f]/g, (sign) => encodeURIComponent(sign).replace(/%/g, '='))
    .replace(/=([\dA-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** A value's parts at a sign that is not escaped, each as it reads; those that are empty too. */
const valueParts = (value: string, sign: ';' | ','): readonly string[] =>
  value.split(sign === ';' ? /(?<!\\);/ : /(?<!\\),/).map(readable);

/** A value without its escapes. */
const readable = (value: string): string =>
  value.replace(/\\([\s\S])/g, (_, sign: string) => (/n/i.test(sign) ? '\n' : sign)).trim();

/** `20260203`, `20260203T100000Z` and the like as people write them; other texts as they are. */
function shownTime(value: string, zone: string | undefined): string {
  const [, year, month, day, hour, minute, second, utc] =
    /^(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2})(?::?(\d{2}))?(Z)?)?$/.exec(value.trim()) ?? [];
  if (year === undefined) return readable(value);
  const date = [year, month, day].join('-');
  if (hour === undefined) return date;
  const time = [hour, minute, ...(second === undefined || second === '00' ? [] : [second])].join(':');
  const where = utc === undefined ? zone : 'UTC';
  return [date, time, ...(where === undefined ? [] : [where])].join(' ');
}

/** A value under its label, as a reader is to see it. */
interface Labelled {
  readonly label: string;
  readonly value: string;
}

/** A contact or an entry of a calendar, in the order in which its values are shown. */
type ReadRecord = readonly Labelled[];

interface Records {
  readonly mimeType: string;
  /** Of all of them together; null where they have none. */
  readonly title: string | null;
  readonly records: readonly ReadRecord[];
}

/** Places of a table, filled or not: records that would need more are lines as well. */
const PLACES_MAX = 1_000_000;

/** Opens records: one as lines of labels and values, several as a table with a column for each label. */
const openRecords = ({ mimeType, title, records }: Records): OpenedDocument =>
  openFlow({
    mimeType,
    blocks: [...(title === null ? [] : [heading(title)]), ...blocksOfRecords(records)],
  });

const heading = (text: string): Block => ({
  kind: 'heading',
  level: 1,
  text,
  markdown: escapeText(text),
  box: null,
});

const linesOf = (record: ReadRecord): readonly Block[] =>
  record.map(({ label, value }) => {
    const text = `${label}: ${value}`;
    return { kind: 'paragraph', text, markdown: escapeText(text), box: null };
  });

function blocksOfRecords(records: readonly ReadRecord[]): readonly Block[] {
  const columns = [...new Set(records.flatMap((record) => record.map(({ label }) => label)))];
  if (records.length < 2 || columns.length * records.length > PLACES_MAX) return records.flatMap(linesOf);
  if (columns.length === 0) return [];
  return [tableOf([columns, ...records.map((record) => rowOf(record, columns))], 1)];
}

function rowOf(record: ReadRecord, columns: readonly string[]): readonly string[] {
  const cells = new Map<string, string[]>();
  for (const { label, value } of record) {
    const cell = cells.get(label);
    if (cell === undefined) cells.set(label, [value]);
    else cell.push(value);
  }
  return columns.map((label) => (cells.get(label) ?? []).join('; ').replace(/\s+/g, ' '));
}

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

const CONTACT_LABELS: Readonly<Record<string, string>> = labels.contact;
const KINDS: Readonly<Record<string, string>> = labels.kind;
const DATES = new Set(['BDAY', 'ANNIVERSARY']);

/** Opens contacts (vCard): what the shown properties of each say, under plain labels. */
export const openVcf: Opener = ({ text = '' }) => {
  const cards = recordParts(text).filter(({ kind }) => kind === 'VCARD');
  return Promise.resolve(openRecords({ mimeType: 'text/vcard', title: null, records: cards.map(contactOf) }));
};

function contactOf({ lines }: RecordPart): ReadRecord {
  const hasName = lines.some(({ name }) => name === 'FN');
  const order = Object.keys(CONTACT_LABELS);
  return lines
    .flatMap((line): readonly ContentLine[] => {
      if (line.name === 'N' && !hasName) return [{ ...line, name: 'FN', value: nameOf(line.value) }];
      return Object.hasOwn(CONTACT_LABELS, line.name) ? [line] : [];
    })
    .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    .map((line) => ({ label: labelOf(line), value: shownOfContact(line) }))
    .filter(({ value }: Labelled) => value !== '');
}

/** Family name, given name, further names, prefixes, suffixes: as they are called. */
function nameOf(value: string): string {
  const [family = '', given = '', further = '', prefix = '', suffix = ''] = valueParts(value, ';');
  return written([prefix, given, further, family, suffix], ' ');
}

/** `Work phone`, `Home address`. */
function labelOf({ name, parameters }: ContentLine): string {
  const label = ownMember(CONTACT_LABELS, name) ?? name;
  const types = new Set((parameters.get('TYPE') ?? []).map((type) => type.toUpperCase()));
  const kind = Object.entries(KINDS)
    .flatMap(([type, word]) => (types.has(type) ? [word] : []))
    .join(' ');
  return kind === '' ? label : `${kind} ${label.toLowerCase()}`;
}

function shownOfContact({ name, parameters, value }: ContentLine): string {
  if (name === 'ADR' || name === 'ORG') return written(valueParts(value, ';'), ', ');
  if (name === 'CATEGORIES' || name === 'NICKNAME') return written(valueParts(value, ','), ', ');
  if (DATES.has(name)) return shownTime(value, undefined);
  const isAddress = (parameters.get('VALUE') ?? []).some((one) => one.toUpperCase() === 'URI');
  return isAddress ? value.replace(/^(?:tel|mailto):/i, '').trim() : readable(value);
}

const written = (parts: readonly string[], between: string): string =>
  parts.filter((part) => part !== '').join(between);
