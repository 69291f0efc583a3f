import type { Field } from '../fields/fields.ts';
import { folded } from '../../kernel/text.ts';
import type { Finding, RowFindings } from '../finding.ts';
import { entryFinding } from './labelledLists.ts';
import type { Listed } from './rowMembers.ts';
import { textLines, type TextLine } from './textLines.ts';
import type { Source } from '../source.ts';
import type { Json } from '../../kernel/json.ts';
import { lexicon } from '../words/lexicon.ts';
import { wantsOf } from '../fields/wants.ts';
import { nameWords } from '../words/labelWords.ts';

const ASKED = lexicon.asks.works;
const HEADING_WORDS_MAX = 3;
const ENTRIES_MAX = 500;
const LINES_MAX = 4000;
/** Before each work: "[1]", "1.", "(1)". */
const MARK = /^(?:\[\d{1,3}\]|\(\d{1,3}\)|\d{1,3}\.)\s/u;
/** "Low, A. and Renn, B. (1989)": a line begins with authors whose initials follow their names. */
const SURNAME = String.raw`(?:\p{L}[\p{L}’'-]{1,30}\s){0,2}\p{Lu}[\p{L}’'-]{1,30}`;
const INITIALS = String.raw`\p{Lu}\.(?:[\s-]?\p{Lu}\.){0,3}`;
const AUTHORS = new RegExp(String.raw`^${SURNAME},\s${INITIALS}(?=,|\s[(\d&]|\s(?:and|und|et|y)\s)`, 'u');
const AUTHORED = new RegExp(String.raw`${AUTHORS.source}.{0,200}?\((?:19|20)\d{2}\w?\)`, 'u');
/** A sentence ends, and not with an initial. */
const ENDED = /(?:[\p{L}\p{N}]{2}|[\p{N})])[.”"]$/u;
/** So many lines that begin with authors show that works do. */
const AUTHORS_MIN = 3;
/** A line that is set like a heading ends no list whose marks go on within so many lines. */
const LOOKED_ON = 40;
const CONFIDENT = 0.9;

/** The works that a paper cites: what stands below the heading "References", one paragraph or mark each. */
export const citedWorks = ({ type, terms: { name } }: Field, source: Source): readonly Finding[] =>
  type === 'string' ? citedEntries(name, source) : [];

/** The same for whatever is called so. */
function citedEntries(name: readonly string[], { document }: Source): readonly Finding[] {
  if (!name.some((word) => ASKED.has(word))) return [];
  const lines = textLines(document);
  const at = lines.findLastIndex(({ text }) => isHeading(text));
  if (at < 0) return [];
  const below = lines.slice(at + 1, at + 1 + LINES_MAX);
  const end = below.findIndex(
    ({ block }, i) =>
      block.kind === 'heading' && !below.slice(i, i + LOOKED_ON).some(({ text }) => MARK.test(text)),
  );
  return worksIn((end < 0 ? below : below.slice(0, end)).filter((line, i) => !isRunning(line, below[i - 1])))
    .slice(0, ENTRIES_MAX)
    .map((work) => entryFinding(work, CONFIDENT));
}

/** Works that stand anywhere, told by their form: a paragraph or item begins with authors and a year in brackets. */
function authoredEntries({ document }: Source): readonly Finding[] {
  const lines = textLines(document);
  const works: { text: string; at: TextLine }[] = [];
  for (const [i, line] of lines.entries()) {
    const last = works.at(-1);
    if (line.block !== lines[i - 1]?.block && AUTHORED.test(line.text))
      works.push({ text: line.text, at: line });
    else if (last?.at.block === line.block) last.text = `${last.text} ${line.text}`;
  }
  return works.length < AUTHORS_MIN
    ? []
    : works.slice(0, ENTRIES_MAX).map((work) => entryFinding(work, CONFIDENT));
}

function isHeading(text: string): boolean {
  const own = folded(text)
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '');
  return own.length > 0 && own.length <= HEADING_WORDS_MAX && own.some((word) => ASKED.has(word));
}

function worksIn(lines: readonly TextLine[]): readonly { readonly text: string; readonly at: TextLine }[] {
  const begins = beginningIn(lines);
  const works: { text: string; at: TextLine }[] = [];
  for (const [i, line] of lines.entries()) {
    const last = works.at(-1);
    if (begins(line, lines[i - 1])) works.push({ text: line.text.replace(MARK, ''), at: line });
    else if (last !== undefined) last.text = `${last.text} ${line.text}`;
  }
  return works;
}

/** What stands alone at the head of a page beside its number is no part of a work that went on to it. */
const isRunning = ({ text, page, block }: TextLine, before: TextLine | undefined): boolean =>
  before !== undefined &&
  page !== before.page &&
  ENDED.test(before.text) &&
  block.text.trim() === text &&
  /^\d{1,4}\s.{0,100}[^.”"]$|^.{0,100}\s\d{1,4}$/u.test(text);

type Begins = (line: TextLine, before: TextLine | undefined) => boolean;

const isMarked: Begins = ({ text, number }) => number !== null || MARK.test(text);
const hasAuthors: Begins = ({ text }, before) =>
  AUTHORS.test(text) && (before === undefined || ENDED.test(before.text));
const isParagraph: Begins = ({ block }, before) => block !== before?.block;

/** A work begins with its mark; where works have none, with its authors, or else with its paragraph. */
function beginningIn(lines: readonly TextLine[]): Begins {
  if (lines.some((line) => isMarked(line, undefined))) return isMarked;
  const withAuthors = lines.filter((line, i) => hasAuthors(line, lines[i - 1]));
  return withAuthors.length >= AUTHORS_MIN ? hasAuthors : isParagraph;
}

type Part = 'authors' | 'title' | 'year' | 'venue' | 'id';

const YEAR = /(?<![\d./:-])(?:19|20)\d{2}(?![\d./-]\d)/gu;
/** A year after the authors is that of the work, whatever year its title or venue names. */
const BRACKETED = /^\(((?:19|20)\d{2})\w?\)/u;
const ID = /(?:doi:\s?|https:\/\/doi\.org\/)(10\.\S+[^\s.,])|(arXiv:\s?\d{4}\.\d{4,5})/iu;
/** Authors end before a year in brackets, or where a sentence does that ends in no initial. */
const DATED = /^((?:(?!\p{Ll}{3}\.\s)[^()]){3,400}?)\s?(?:\(\p{L}{2,4}\.\)\s?)?(?=\((?:19|20)\d{2}\w?\))/u;
const STOPPED = /^(.{3,400}?(?:\p{Ll}{2}|et al))\.\s(?=\S)/u;
const TITLE =
  /^[\s.(]*(?:(?:19|20)\d{2}\w?\)?\.?\s)?["“*]{0,2}(.{3,300}?)[,.?!]?["”*]{0,2}(?:[.?!]\s|[”"],?\s|$)/u;
const VENUE = /^\s*(?:In\s)?(.{3,160}?)(?:,|\.(?:\s|$)|\sabs\/|$)/u;

/** The works that a paper cites, each in its parts: authors, title, where and when it appeared; a row an author. */
export function citedRows({ fields, called }: Listed, source: Source): readonly RowFindings[] {
  const parts = new Set(fields.map(partOf));
  if (!parts.has('title')) return [];
  const cited = citedEntries(called.phrases.flat(), source);
  const ofForm =
    cited.length === 0 && parts.has('authors') && parts.has('year') ? authoredEntries(source) : cited;
  return ofForm.flatMap((entry) => rowsOf(entry, fields));
}

const PARTS: readonly Part[] = ['authors', 'title', 'year', 'venue', 'id'];

/** A member of a nested list, `authors/name`, is of the part that the list names. */
function partOf({ pointer }: Field): Part | undefined {
  const wants = wantsOf(nameWords(pointer));
  return PARTS.find((part) => wants.has(part));
}

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
  const parts = { authors, title, venue: venue?.replace(/\*/gu, ''), year: dated, id };
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
