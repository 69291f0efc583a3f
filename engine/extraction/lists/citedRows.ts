import type { Json } from '../../kernel/json.ts';
import type { Field } from '../fields/fields.ts';
import { nameWords } from '../fields/words.ts';
import type { Finding } from '../finding.ts';
import lexicon from '../lexicon/entries.json' with { type: 'json' };
import type { Source } from '../source.ts';
import type { RowFindings } from '../tables/rowValues.ts';
import { citedEntries } from './citedWorks.ts';
import type { Listed } from './rowMembers.ts';

type Part = keyof typeof lexicon.cited;

const YEAR = /(?<![\d./:-])(?:19|20)\d{2}(?![\d./-]\d)/gu;
/** A year after the authors is that of the work, whatever year its title or venue names. */
const BRACKETED = /^\(((?:19|20)\d{2})\w?\)/u;
const ID = /(?:doi:\s?|https:\/\/doi\.org\/)(10\.\S+[^\s.,])|(arXiv:\s?\d{4}\.\d{4,5})/iu;
/** Authors end before a year in brackets, or where a sentence does that ends in no initial. */
const DATED = /^((?:(?!\p{Ll}{3}\.\s)[^()]){3,400}?)\s?(?=\((?:19|20)\d{2}\w?\))/u;
const STOPPED = /^(.{3,400}?(?:\p{Ll}{2}|et al))\.\s(?=\S)/u;
const TITLE =
  /^[\s.(]*(?:(?:19|20)\d{2}\w?\)?\.?\s)?["“*]{0,2}(.{3,300}?)[,.?!]?["”*]{0,2}(?:[.?!]\s|[”"],?\s|$)/u;
const VENUE = /^\s*(?:In\s)?(.{3,160}?)(?:,|\.(?:\s|$)|\sabs\/|$)/u;

/** The works that a paper cites, each in its parts: authors, title, where and when it appeared; a row an author. */
export function citedRows({ fields, called }: Listed, source: Source): readonly RowFindings[] {
  if (!fields.some((field) => partOf(field) === 'title')) return [];
  return citedEntries(called.phrases.flat(), source).flatMap((entry) => rowsOf(entry, fields));
}

const partOf = ({ pointer }: Field): Part | undefined => {
  const words = nameWords(pointer);
  const parts = ['authors', 'title', 'year', 'venue', 'id'] as const;
  return parts.find((part) => words.some((word) => lexicon.cited[part].includes(word)));
};

function rowsOf(entry: Finding, fields: readonly Field[]): readonly RowFindings[] {
  const { authors, ...one } = partsOf(entry.text);
  const own = fields.flatMap((field): readonly (readonly [string, Finding])[] => {
    const part = partOf(field);
    const said = part === undefined || part === 'authors' ? undefined : one[part];
    const value: Json | undefined = part === 'year' && field.type !== 'string' ? Number(said) : said;
    return said === undefined || value === undefined ? [] : [[field.pointer, { ...entry, value }]];
  });
  const named = fields.find((field) => partOf(field) === 'authors');
  if (named === undefined || authors === undefined) return own.length < 2 ? [] : [new Map(own)];
  const names = named.pointer.includes('/*') ? namesIn(authors) : [authors];
  return names.map((value) => new Map([...own, [named.pointer, { ...entry, value }]]));
}

function partsOf(text: string): Partial<Record<Part, string>> {
  const [authors, afterAuthors] = taken(text, [DATED, STOPPED]);
  const [title, afterTitle] = taken(afterAuthors, [TITLE]);
  const [venue] = taken(afterTitle, [VENUE]);
  const [id] = taken(text, [ID]);
  const [dated = [...text.matchAll(YEAR)].at(-1)?.[0]] = taken(afterAuthors, [BRACKETED]);
  const parts = { authors, title, venue, year: dated, id };
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}

/** What the first form that fits finds, and the text without it; all of the text where none fits. */
function taken(text: string, forms: readonly RegExp[]): readonly [string | undefined, string] {
  for (const form of forms) {
    const found = form.exec(text);
    if (found !== null) return [found[1] ?? found[2], text.slice(found[0].length)];
  }
  return [undefined, text];
}

/** "Ada Low, Bo Quill, and Cy Moor"; "Low, A., & Quill, B." keeps initials with their names. */
const namesIn = (authors: string): readonly string[] =>
  authors
    .replace(/,?\s(?:and|und|et|y|&)\s/gu, ', ')
    .split(/,\s(?!\p{Lu}\.)/u)
    .map((name) => name.trim())
    .filter((name) => name !== '');
