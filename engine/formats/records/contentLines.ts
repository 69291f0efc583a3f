/** A line of a card or calendar: a property, its parameters, and its value as it stands. */
export interface ContentLine {
  /** In capitals, without the group that it belongs to. */
  readonly name: string;
  /** By their names in capitals. A parameter without a value is a type, as it was in the first version. */
  readonly parameters: ReadonlyMap<string, readonly string[]>;
  readonly value: string;
}

/** A card, an entry of a calendar, or what holds such: between its `BEGIN` and its `END`. */
export interface RecordPart {
  readonly kind: string;
  readonly lines: readonly ContentLine[];
  readonly parts: readonly RecordPart[];
}

const DEPTH_MAX = 16;

/** The parts of a text of content lines (RFC 6350 and 5545). What is never ended ends with the text. */
export function recordParts(text: string): readonly RecordPart[] {
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
    parameters.set(known, [...(parameters.get(known) ?? []), ...all]);
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
export const valueParts = (value: string, sign: ';' | ','): readonly string[] =>
  value.split(sign === ';' ? /(?<!\\);/ : /(?<!\\),/).map(readable);

/** A value without its escapes. */
export const readable = (value: string): string =>
  value.replace(/\\([\s\S])/g, (_, sign: string) => (/n/i.test(sign) ? '\n' : sign)).trim();

/** `20260203`, `20260203T100000Z` and the like as people write them; other texts as they are. */
export function shownTime(value: string, zone: string | undefined): string {
  const [, year, month, day, hour, minute, second, utc] =
    /^(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2})(?::?(\d{2}))?(Z)?)?$/.exec(value.trim()) ?? [];
  if (year === undefined) return readable(value);
  const date = [year, month, day].join('-');
  if (hour === undefined) return date;
  const time = [hour, minute, ...(second === undefined || second === '00' ? [] : [second])].join(':');
  const where = utc === undefined ? zone : 'UTC';
  return [date, time, ...(where === undefined ? [] : [where])].join(' ');
}
