import { parse } from 'mrz';
import type { Code, ParsedCode } from '../../document/codes.ts';
import type { Box, DocumentPage, Line } from '../../document/document.ts';

/** The kinds of machine-readable zones: so many lines of so many characters. */
const ZONES = [
  { lines: 3, characters: 30 },
  { lines: 2, characters: 44 },
  { lines: 2, characters: 36 },
] as const;

const FILLED = /^[A-Z0-9<]+$/;
/** Recognition reads fillers as quotes, and sees gaps between them. */
const zoneText = (text: string): string => text.replace(/[«‹]/g, '<').replace(/\s+/g, '').toUpperCase();

const isZoneLine = (text: string, characters: number): boolean =>
  text.length === characters && FILLED.test(text);

/** Between names stand two fillers, and nothing else on paper has them. */
const hasFillers = (texts: readonly string[]): boolean => texts.some((text) => /[A-Z]<<[A-Z<]/.test(text));

const CENTURY = 100;
/** Two digits of a year of expiry that say the last century. */
const OLD_EXPIRY = 70;

const dateOf = (text: string | null | undefined, year: (short: number) => number): string | null => {
  const [, yy = '', month = '', day = ''] = /^(\d\d)(\d\d)(\d\d)$/.exec(text ?? '') ?? [];
  return yy === '' ? null : `${String(year(Number(yy)))}-${month}-${day}`;
};

const expiryYear = (short: number): number => (short >= OLD_EXPIRY ? 1900 : 2000) + short;

/** People are born before their papers expire: the last year with these digits. */
const birthYear = (expiry: number, short: number): number =>
  expiry - ((((expiry - short) % CENTURY) + CENTURY) % CENTURY);

const raw = (line: string, from: number, to: number): string => line.slice(from, to).replaceAll('<', '');

type States = readonly [issuer: number, nationality: readonly [line: number, from: number]];

/** Where the states stand, by the kind of zone: packages know them by lists that age. */
const STATES: Readonly<Record<string, States>> = {
  TD1: [0, [1, 15]],
  TD2: [0, [1, 10]],
  TD3: [0, [1, 10]],
};

type Zone = ReturnType<typeof parse>;

/** A zone as the package reads it; undefined for what is none to it. */
function zoneIn(lines: readonly string[]): Zone | undefined {
  try {
    return parse([...lines], { autocorrect: true });
  } catch {
    return undefined;
  }
}

/** Whether all check digits agree. Cards leave the digit of an empty optional field open. */
function isSound({ details }: Zone): boolean {
  const digits = details.filter(({ field }) => field?.endsWith('CheckDigit') === true);
  return (
    digits.length >= 3 && digits.every(({ valid, field }) => valid || field === 'personalNumberCheckDigit')
  );
}

/** The parts of a zone; undefined where a check digit does not agree. */
function parsedZone(lines: readonly string[]): ParsedCode | undefined {
  const zone = zoneIn(lines);
  if (zone === undefined || !isSound(zone)) return undefined;
  const states = STATES[zone.format];
  return states && partsOf(zone, lines, states);
}

function partsOf({ format, fields }: Zone, lines: readonly string[], states: States): ParsedCode {
  const [first = ''] = lines;
  const [line, from] = states[1];
  const expiry = Number(dateOf(fields.expirationDate, expiryYear)?.slice(0, 4) ?? 2000);
  return {
    kind: 'mrz',
    zone: format.toLowerCase(),
    document_code: raw(first, 0, 2),
    issuing_state: raw(first, 2, 5),
    document_number: fields.documentNumber ?? null,
    last_name: fields.lastName ?? null,
    first_name: fields.firstName ?? null,
    nationality: raw(lines[line] ?? '', from, from + 3),
    birth_date: dateOf(fields.birthDate, (short) => birthYear(expiry, short)),
    sex: fields.sex ?? null,
    expiry_date: dateOf(fields.expirationDate, expiryYear),
  };
}

const union = (boxes: readonly (Box | null)[]): Box | null => {
  const placed = boxes.filter((box) => box !== null);
  if (placed.length === 0) return null;
  const side = (at: 0 | 1 | 2 | 3) => placed.map((box) => box[at]);
  return [Math.min(...side(0)), Math.min(...side(1)), Math.max(...side(2)), Math.max(...side(3))];
};

function zoneAt(
  lines: readonly Line[],
  at: number,
  page: number,
): (Code & { readonly lines: number }) | undefined {
  for (const { lines: count, characters } of ZONES) {
    const zone = lines.slice(at, at + count);
    const texts = zone.map(({ text }) => zoneText(text));
    if (texts.length < count || !texts.every((text) => isZoneLine(text, characters)) || !hasFillers(texts))
      continue;
    const parsed = parsedZone(texts);
    const box = union(zone.map((line) => line.box));
    return { format: 'mrz', text: texts.join('\n'), page, box, parsed, lines: count };
  }
  return undefined;
}

/** The machine-readable zones among the lines of a page. */
export function zonesOn({ page, lines }: DocumentPage): readonly Code[] {
  const zones: Code[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const found = zoneAt(lines, at, page);
    if (found === undefined) continue;
    const { lines: count, ...zone } = found;
    zones.push(zone);
    at += count - 1;
  }
  return zones;
}
