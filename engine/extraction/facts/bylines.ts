import type { Field } from '../fields/fields.ts';
import { withoutEnd, folded } from '../../kernel/text.ts';
import type { Finding, Signed, RowFindings } from '../finding.ts';
import type { Generator } from '../../ports/why.ts';
import { computedFigure, isPrinted } from '../grids/computed.ts';
import type { Listed } from '../lists/rowMembers.ts';
import { headOf } from '../parts/head.ts';
import { isOrganization, personIn } from '../parts/people.ts';
import { wordsIn, type Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { captionFact } from './captions.ts';
import { codeFact } from './codeFacts.ts';
import { invoiceFact } from './invoiceFacts.ts';
import { type Fact, mailFact } from './mailFacts.ts';
import { once } from '../../kernel/once.ts';
import { lexicon } from '../words/lexicon.ts';
import { asks } from '../fields/wants.ts';

const AUTHORS = lexicon.asks.authors;

/** Names below a title are its authors nearly always. */
const CONFIDENCE = 0.85;

/** A paper's author, with the marks behind the name that refer to institutions. */
interface Author {
  readonly name: Finding;
  readonly marks: readonly string[];
}

interface Byline {
  readonly authors: readonly Author[];
  /** Institutions by their marks; '' of one that has none. */
  readonly institutions: ReadonlyMap<string, Finding>;
  readonly mails: readonly Finding[];
}

const bylineOf = once(bylineIn);

/** The authors of a paper, or their institutions, as they stand below its title; undefined where none do. */
function bylineFact(field: Field, source: Source): Fact | undefined {
  if (field.type !== 'string') return undefined;
  const { name } = field.terms;
  const isAuthors = name.length === 1 && name.every((word) => AUTHORS.has(word));
  if (!isAuthors && !asks(field, 'institution')) return undefined;
  const { authors, institutions } = bylineOf(source);
  const marked = [...institutions].flatMap(([mark, finding]) => (mark === '' ? [] : [finding]));
  const findings = isAuthors ? authors.map((author) => author.name) : marked;
  return findings.length === 0 ? undefined : { findings };
}

/** A row an author, with the institution and the address of mail of each; none where no authors are asked for. */
export function authorRows({ fields, called }: Listed, source: Source): readonly RowFindings[] {
  const isAsked = called.phrases.some((words) => words.some((word) => AUTHORS.has(word)));
  if (!isAsked || !fields.some((field) => isName(field))) return [];
  const { authors, institutions, mails } = bylineOf(source);
  return authors.map(({ name, marks }, i) => {
    const own = marks.flatMap((mark) => institutions.get(mark) ?? []);
    const institution = own[0] ?? institutions.get('');
    const mail = mails.length === authors.length ? mails[i] : mails.find((one) => isMailOf(one, name));
    const row = fields.flatMap((field): readonly (readonly [string, Finding])[] => {
      const found = isName(field)
        ? name
        : asks(field, 'email')
          ? mail
          : asks(field, 'institution')
            ? institution
            : undefined;
      return found === undefined ? [] : [[field.pointer, found]];
    });
    return new Map(row);
  });
}

/** The member is an author's name, which may be called so, or the author. */
const isName = (field: Field): boolean =>
  (asks(field, 'name') || asks(field, 'authors')) && !asks(field, 'email');

const SURNAME_MIN = 3;

/** An address of mail that has a longer word of the name. */
const isMailOf = (mail: Finding, { text }: Finding): boolean =>
  folded(text)
    .split(/[^\p{L}]+/u)
    .some((word) => word.length >= SURNAME_MIN && mail.text.toLowerCase().includes(word));

const LINES_MAX = 4;
const BELOW_MAX = 30;
const LINE_CHARACTERS = 300;
/** What comes after the authors. */
const TEXT = new RegExp(`^${lexicon.authors.end_before.pattern}`, 'iu');

function bylineIn(source: Source): Byline {
  const last = headOf(source).large[0]?.segments.at(-1);
  const all =
    last === undefined ? [] : source.layout.segments.slice(last.index + 1, last.index + 1 + BELOW_MAX);
  const lines = all.filter(({ page }) => page === last?.page);
  const authors: Author[] = [];
  let end = 0;
  for (const segment of lines.slice(0, LINES_MAX)) {
    const found = besideIt(segment, source).every(saysName) ? namesIn(segment) : [];
    if (found.length === 0 && authors.length > 0) break;
    end += 1;
    authors.push(...found);
  }
  const from = authors.length > 0 ? end : 0;
  const stop = lines.findIndex(({ text }, i) => i >= from && TEXT.test(text));
  const below = lines.slice(from, stop < 0 ? lines.length : stop);
  return { authors, institutions: institutionsIn(below), mails: below.flatMap(mailsIn) };
}

/** What else stands in a row: of a byline further names, of the header of a table other columns. */
const besideIt = ({ row, index }: Segment, { layout }: Source): readonly Segment[] =>
  (layout.rows[row]?.segments ?? []).filter((other) => other.index !== index);

const saysName = (segment: Segment): boolean =>
  !/\p{L}{2}/u.test(segment.text) || namesIn(segment).length > 0;

const MARK = /[\d*∗†‡§¶,\s]/u;
const LETTER_ALONE = /\s[a-z]$/;
const MARKS_MAX = 8;

/** A name without the marks of its affiliations: figures, stars, letters that stand alone. */
function unmarked(text: string): string {
  let name = withoutEnd(text, MARK);
  for (let i = 0; i < MARKS_MAX && LETTER_ALONE.test(name); i += 1)
    name = withoutEnd(name.slice(0, -2), MARK);
  return name;
}

const PARTS = /[^,;·&]+(?:,[a-z\d*∗†‡§¶](?![\p{L}]))*|[;·&]/gu;

/** The persons of a line that names nothing else; none of a line that does. */
function namesIn(segment: Segment): readonly Author[] {
  if (segment.text.length > LINE_CHARACTERS) return [];
  const found: Author[] = [];
  for (const match of segment.text.matchAll(PARTS)) {
    for (const piece of match[0].split(/\s(?:and|und|et|y|e|en|a)\s|^(?:and|und|et|y|e|en)\s/u)) {
      const said = piece.trim();
      const text = unmarked(said);
      if (!/\p{L}{2}/u.test(text)) continue;
      const name = personIn(text);
      if (name === undefined) return [];
      const at = match.index + match[0].indexOf(name);
      const marks = said.slice(text.length).match(/\d{1,2}|[a-z]|[*∗†‡§¶]/gu) ?? [];
      found.push({ name: findingAt(segment, at, name), marks });
    }
  }
  return found;
}

/** The mark that the authors' names refer to, before the name of the institution. */
const MARKED = /^(\d{1,2}|[a-z]|[*†‡§¶])[.)]?\s?(?=\p{Lu})/u;

function institutionsIn(lines: readonly Segment[]): ReadonlyMap<string, Finding> {
  const found = new Map<string, Finding>();
  const put = (mark: string, finding: Finding): void => {
    if (!found.has(mark)) found.set(mark, finding);
  };
  for (const segment of lines) {
    const [all = '', mark = ''] = MARKED.exec(segment.text) ?? [];
    const value = segment.text.slice(all.length);
    if (!isOrganization(value) || /@/.test(value)) continue;
    const name = mark === '' ? (value.split(/,\s/u, 1)[0] ?? value) : value;
    put(mark, findingAt(segment, all.length, name));
  }
  return found;
}

const MAIL = /(?:\{([^{}@]{1,160})\}|([^\s@{},;()<>]{1,64}))@([\p{L}\d-]+(?:\.[\p{L}\d-]+)+)/gu;

/** The addresses of a line; several of one host may be written in braces: "{ada, bo}@alder.example". */
const mailsIn = (segment: Segment): readonly Finding[] =>
  [...segment.text.matchAll(MAIL)].flatMap(({ index, 0: text, 1: many, 2: one = '', 3: host = '' }) =>
    (many ?? one).split(',').map((local): Finding => ({
      ...findingAt(segment, index, text),
      value: `${local.trim()}@${host}`,
    })),
  );

const findingAt = (segment: Segment, from: number, text: string): Finding => ({
  value: text,
  text,
  page: segment.page,
  words: wordsIn(segment, from, from + text.length),
  confidence: CONFIDENCE,
  kind: 'head',
});

/**
 * What the document as a whole says of a field: a message's header, its invoice as data, a code on a page, a paper's
 * parts. undefined where the field asks for no such part.
 */
export const factFor = (field: Field, source: Source): SignedFact | undefined =>
  signedFact('mail', source, mailFact(field, source)) ??
  signedFact('embedded_xml', source, invoiceFact(field, source)) ??
  signedFact('codes', source, codeFact(field, source)) ??
  signedFact('computed', source, computedFact(field, source)) ??
  signedFact('byline', source, bylineFact(field, source)) ??
  signedFact('head', source, captionFact(field, source));

/**
 * What a description has worked out is not read off the page, also where it cannot be worked out; but where the page
 * says it by its name.
 */
function computedFact(field: Field, source: Source): Fact | undefined {
  if (field.computed === undefined || field.inRow) return undefined;
  const finding = computedFigure(field, field.computed, source);
  if (finding === undefined) return isPrinted(field, source) ? undefined : { findings: [] };
  return { findings: [finding] };
}

/** A fact whose findings say what found them. */
export interface SignedFact {
  readonly findings: readonly Signed[];
}

const signedFact = (by: Generator, { without }: Source, fact: Fact | undefined): SignedFact | undefined =>
  fact && without?.has(by) !== true ? { findings: fact.findings.map((one) => ({ ...one, by })) } : undefined;

/** A fact of several values as one text. */
export function joinedFact({ findings }: SignedFact): Signed | undefined {
  const [first, ...others] = findings;
  if (first === undefined || others.length === 0) return first;
  const text = findings.map((one) => (typeof one.value === 'string' ? one.value : one.text)).join(', ');
  return { ...first, value: text, text, words: findings.flatMap(({ words }) => words) };
}
