import type { Field } from '../fields/fields.ts';
import type { Segment } from '../places/layout.ts';
import type { Draft } from '../singles/offer.ts';
import type { Source } from '../source.ts';
import { headOf } from './head.ts';

/** What a paper's own line of reference says: the journal, its volume, the pages, the year. */
interface Reference {
  readonly segment: Segment;
  readonly parts: ReadonlyMap<Part, readonly [from: number, to: number]>;
}

type Part = 'journal' | 'volume' | 'issue' | 'pages' | 'first' | 'last' | 'year';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const ASKED: readonly (readonly [Part, ReadonlySet<string>])[] = [
  ['first', words('first start begin erste primera premiere prima')],
  ['last', words('last end letzte ultima derniere')],
  ['journal', words('journal zeitschrift revue revista rivista periodical tijdschrift casopis')],
  ['volume', words('volume vol band jahrgang tome volumen rocnik')],
  ['issue', words('issue heft fascicule fasciculo')],
  ['pages', words('pages seiten paginas pagine')],
  ['year', words('year jahr annee anio ano anno jaar rok')],
];
const PAGE = words('page seite pagina');

const NAME = /^(\p{Lu}[\p{L}&.’' -]{3,80}?),?\s(?=(?:vol|v|bd|band|tome|t)\b|\d)/iu;
const YEAR = /(?<![\d.:/-])(?:19|20)\d{2}(?![\d/:-])/u;
const PAGES = /(?<!\d)(\d{1,5})\s?[–-]\s?(\d{1,5})(?!\d)/u;
const VOLUME = /^(?:vol(?:ume|\.)?|v\.|bd\.?|band|tome|t\.)?\s?(\d{1,4})(?!\d)/iu;
const ISSUE = /^\s?\((\d{1,3})\)|^,?\s(?:no|nr|issue|heft|n[°º.]|n[uú]m)\.?\s?(\d{1,3})(?!\d)/iu;
const LINE_CHARACTERS = 200;
const NAME_WORDS_MIN = 2;

const KNOWN = new WeakMap<Source, Reference | null>();

/** The members of the reference that a paper prints in its head: "Soil Science 31 (2022) 417–429". */
export function citationOffers(field: Field, source: Source): readonly Draft[] {
  const part = partFor(field);
  if (part === undefined) return [];
  const known = KNOWN.get(source);
  const reference = known === undefined ? (referenceIn(source) ?? null) : known;
  KNOWN.set(source, reference);
  const place = reference?.parts.get(part);
  if (reference === null || place === undefined) return [];
  const [from, to] = place;
  const text = reference.segment.text.slice(from, to);
  const value = field.type === 'string' ? text : Number(text);
  if (Number.isNaN(value)) return [];
  return [{ segment: reference.segment, from, to, text, value, strictness: 1, kind: 'form', score: 0.97 }];
}

/** The words of the name that are asked for, and no others. */
function partFor({ terms: { name } }: Field): Part | undefined {
  const [part, own] = ASKED.find(([, some]) => name.some((word) => some.has(word))) ?? [];
  if (part === undefined || own === undefined) return undefined;
  const others = name.filter((word) => !own.has(word));
  if (part === 'first' || part === 'last') return others.some((word) => PAGE.has(word)) ? part : undefined;
  return others.every((word) => ALLOWED.has(word)) ? part : undefined;
}
const ALLOWED = words('name title publication published page range nr');

function referenceIn(source: Source): Reference | undefined {
  for (const segment of headOf(source).segments) {
    const parts = segment.text.length > LINE_CHARACTERS ? undefined : partsOf(segment.text);
    if (parts !== undefined) return { segment, parts };
  }
  return undefined;
}

type Ranges = Map<Part, readonly [number, number]>;

/** A name, then a volume, with pages and a year behind it. */
function partsOf(text: string): Reference['parts'] | undefined {
  const name = NAME.exec(text);
  if (name === null || (name[1] ?? '').trim().split(' ').length < NAME_WORDS_MIN) return undefined;
  const tail = text.slice(name[0].length);
  const [volume, year, pages] = [VOLUME.exec(tail), YEAR.exec(tail), PAGES.exec(tail)];
  if (volume === null || year === null || pages === null || volume[1] === year[0]) return undefined;
  const ranges: Ranges = new Map();
  const at = name[0].length;
  place(ranges, 'journal', { text: name[1]?.replace(/,$/, ''), at: 0 });
  placeLast(ranges, 'volume', { found: volume, part: 1, at });
  place(ranges, 'year', { text: year[0], at: at + year.index });
  place(ranges, 'pages', { text: pages[0], at: at + pages.index });
  place(ranges, 'first', { text: pages[1], at: at + pages.index });
  placeLast(ranges, 'last', { found: pages, part: 2, at });
  placeIssue(ranges, tail.slice(volume[0].length), at + volume[0].length);
  return ranges;
}

interface Found {
  readonly found: RegExpExecArray;
  readonly part: number;
  /** Where the text that was looked through begins. */
  readonly at: number;
}

/** What a match ends in. */
function placeLast(ranges: Ranges, name: Part, { found, part, at }: Found): void {
  const text = found[part] ?? '';
  place(ranges, name, { text, at: at + found.index + found[0].length - text.length });
}

interface Piece {
  readonly text: string | undefined;
  readonly at: number;
}

function place(ranges: Ranges, part: Part, { text = '', at }: Piece): void {
  ranges.set(part, [at, at + text.length]);
}

/** The issue stands right behind the volume: "12(3)", "18, No. 2". */
function placeIssue(ranges: Ranges, behind: string, at: number): void {
  const found = ISSUE.exec(behind);
  const text = found?.[1] ?? found?.[2];
  if (found !== null && text !== undefined)
    place(ranges, 'issue', { text, at: at + found[0].lastIndexOf(text) });
}
