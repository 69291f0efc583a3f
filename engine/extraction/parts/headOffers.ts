import type { Field } from '../fields/fields.ts';
import { withoutEnd, folded } from '../../kernel/text.ts';
import { ALIKE, alike } from '../words/alike.ts';
import { termsIn, weightOf } from '../fields/terms.ts';
import { isInstruction, isPlaceholder, isSentence } from '../form/printed.ts';
import { isDocumentTitle, isName, isTitled, LEGAL_FORM } from '../parties/partyNames.ts';
import type { Segment } from '../places/layout.ts';
import { shapeOf } from '../singles/shapes.ts';
import type { Draft } from '../singles/values.ts';
import type { Source } from '../source.ts';
import { isStreet, postalLine } from '../parties/postal.ts';
import { phonesIn } from '../values/identifiers.ts';
import { asksOnly } from '../fields/wants.ts';
import { headOf, type Run } from './head.ts';
import { isOrganization, personIn } from './people.ts';
import { lexicon } from '../words/lexicon.ts';

/** What a field may have from the head of the document: who issued it, its title, whose it is. */
export function headOffers(field: Field, source: Source): readonly Draft[] {
  const shape = shapeOf(field);
  if (shape === 'code') return titleNumbers(field, source);
  if (shape !== 'text' && shape !== 'name') return [];
  return [
    ...issuers(field, source),
    ...(asksOnly(field, 'title') ? titles(source) : []),
    ...(asksOnly(field, 'product') ? headings(source) : []),
    ...(asksOnly(field, 'holder') ? holders(source) : []),
    ...(asksOnly(field, 'profession') ? professions(source) : []),
  ];
}

/** The words say the very kind of organization: a court, a bank. */
const OWN_NOUN = 0.97;
const FIRST = 0.87;
const LATER = 0.6;

/** Organizations of the head: the one that is called what the field asks for, else the first. */
function issuers(field: Field, source: Source): readonly Draft[] {
  const isAny = asksOnly(field, 'issuer');
  const isTrade = asksOnly(field, 'trade');
  if (!isAny && !isTrade && !asksOnly(field, 'issuer_kind')) return [];
  const head = headOf(source).segments.flatMap((segment) => organizationIn(segment) ?? []);
  const [named = []] = [head, letterhead(source), onlyCompany(source)].filter(({ length }) => length > 0);
  return named.slice(0, 4).map((one, i): Draft => {
    const words = termsIn(one.text);
    const isOwn = field.terms.name.some(
      (word) => weightOf(word) === 1 && words.some((other) => alike(word, other) >= ALIKE),
    );
    return {
      ...one,
      value: one.text,
      kind: 'head',
      strictness: 0.8,
      score: isOwn
        ? OWN_NOUN
        : i > 0
          ? LATER
          : isAny || (isTrade && (named.length === 1 || LEGAL_FORM.test(one.text)))
            ? FIRST
            : 0.2,
    };
  });
}

const COMPANY_WORDS = new RegExp(
  String.raw`(?:\p{Lu}[\p{L}\p{N}'’&.-]{0,40}|&|und|et|y|e|of|de|du|des|del|der|die|für)` +
    String.raw`(?:\s(?:\p{Lu}[\p{L}\p{N}'’&.-]{0,40}|&|und|et|y|e|of|de|du|des|del|der|die|für)){0,6}$`,
  'u',
);
const PLACES_MAX = 2000;

/** The one company that a document names anywhere, by its legal form; none where it names two. */
function onlyCompany({ layout }: Source): readonly Named[] {
  const found = layout.segments.slice(0, PLACES_MAX).flatMap((segment) => companyIn(segment) ?? []);
  return new Set(found.map(({ text }) => text)).size === 1 ? found.slice(0, 1) : [];
}

/** The words that begin large up to a legal form. */
function companyIn(segment: Segment): Named | undefined {
  const form = LEGAL_FORM.exec(segment.text);
  if (form === null) return undefined;
  const to = form.index + form[0].length;
  const before = segment.text.slice(0, form.index);
  const run = COMPANY_WORDS.exec(before.slice(-NAME_CHARACTERS))?.[0].replace(OPENING, '') ?? '';
  if (!/\p{L}{2}/u.test(run)) return undefined;
  const from = before.length - run.length;
  return { segment, from, to, text: segment.text.slice(from, to).trim() };
}
const NAME_CHARACTERS = 90;
/** An article before a name is no part of it. */
const OPENING = /^(?:(?:Das|Die|Der|The|La|Le|El|Les|Los|des|der|die|du|de|del|of|und|et|y|e|&)\s)+/u;

type Named = Pick<Draft, 'segment' | 'from' | 'to' | 'text'>;

const PIECE_ENDS = /\s[·•|–—]\s|\s{2,}|,\s(?=[^,]*\d)|\s-\s/u;

function organizationIn(segment: Segment): Named | undefined {
  const text = segment.text.split(PIECE_ENDS)[0]?.trim() ?? '';
  const isOne =
    text.includes(' ') &&
    !termsIn(text).includes('nr') &&
    isOrganization(text) &&
    isName(text) &&
    readsAsName(text) &&
    !isHeadedByKind(text);
  return isOne ? { segment, from: 0, to: text.length, text } : undefined;
}

/** How far below a letterhead's name its street, town or telephone stands. */
const CONTACT_WITHIN = 3;

/** Who a letterhead names without a word for what they are: the first text, with an address or a telephone below. */
function letterhead(source: Source): readonly Named[] {
  const [first, ...more] = headOf(source).segments.slice(0, CONTACT_WITHIN + 1);
  if (first === undefined) return [];
  const text = first.text.split(PIECE_ENDS)[0]?.trim() ?? '';
  const isOne =
    text.includes(' ') &&
    isName(text) &&
    readsAsName(text) &&
    !saysKind(text) &&
    personIn(text) === undefined;
  const rest = [first.text.slice(text.length), ...more.map((one) => one.text)].flatMap((one) =>
    one.split(PIECE_ENDS),
  );
  return isOne && rest.some(isContactLine) ? [{ segment: first, from: 0, to: text.length, text }] : [];
}

const isContactLine = (text: string): boolean =>
  postalLine(text.trim()) !== undefined ||
  (/\d/.test(text) && isStreet(text.trim())) ||
  phonesIn(text).length > 0;

/** Begins large, as most of its words do, and is no title, sentence or blank. */
const readsAsName = (text: string): boolean =>
  /^[\p{Lu}\p{N}"“„]/u.test(text) &&
  !/[.…_]{4}/.test(text) &&
  isTitled(withoutEnd(text, /\./)) &&
  !isSentence(text) &&
  !isDocumentTitle(text);

const TITLE_WORDS_MAX = 30;

const wordsOf = ({ segments }: Run): readonly string[] => segments.flatMap(({ text }) => text.split(' '));

/** Furniture of a page. */
const isPageNumber = (text: string): boolean =>
  /^\p{L}{1,10}\.?\s?\d{1,4}(?:\s\p{L}{2,5}\s\d{1,4})?$/u.test(text);
const isText = (text: string): boolean =>
  !isPageNumber(text) && !isPlaceholder(text) && !isInstruction(text) && !/:\s*$/.test(text);

/** The largest text of the first page; one that names its organization comes after others. */
function titles(source: Source): readonly Draft[] {
  const { large } = headOf(source);
  const runs = large.filter((run) => wordsOf(run).length <= TITLE_WORDS_MAX);
  return runs.slice(0, 3).flatMap((run, i): readonly Draft[] => {
    const [segment] = run.segments;
    const text = run.segments.map((one) => one.text).join(' ');
    if (segment === undefined || !isText(text)) return [];
    const score = (i === 0 ? 0.9 : 0.6) * (isOrganization(text) && wordsOf(run).length < 6 ? 0.7 : 1);
    return [draftOf(run, { text, score })];
  });
}

const NUMBERED = /^(?:no|nr|n[°º]|№|núm|num)\.?\s?:?\s(\S{3,40})$/iu;

/** "No. 25-11873" in the head of a "Certificate of …" is the number of the certificate. */
function titleNumbers({ terms: { name } }: Field, source: Source): readonly Draft[] {
  const { large, segments } = headOf(source);
  const kind = name.filter((word) => word !== 'nr' && weightOf(word) === 1);
  const titles = [...large.flatMap((run) => run.segments), ...segments].filter(({ text }) => saysKind(text));
  const isOwn = titles.some(({ text }) =>
    kind.every((word) => termsIn(text).some((other) => alike(word, other) >= ALIKE)),
  );
  if (!name.includes('nr') || kind.length === 0 || !isOwn) return [];
  return segments.flatMap((segment): readonly Draft[] => {
    const [, text = ''] = NUMBERED.exec(segment.text) ?? [];
    const from = segment.text.length - text.length;
    return !/\d/.test(text)
      ? []
      : [
          {
            segment,
            from,
            to: segment.text.length,
            text,
            value: text,
            kind: 'head',
            strictness: 0.8,
            score: 0.97,
          },
        ];
  });
}

/** What a sheet, an advertisement or a recipe is about stands as its title, unless that says what kind it is. */
const headings = (source: Source): readonly Draft[] =>
  titles(source)
    .slice(0, 1)
    .filter(({ text }) => !saysKind(text));

/** "Certificate of Veterinary Health": the first word says what kind of document it is. */
const isHeadedByKind = (text: string): boolean =>
  !LEGAL_FORM.test(text) && saysKind(text.split(' ', 1)[0] ?? '');

const KIND_LETTERS_MIN = 5;

/** A word of it says what kind of document it is, alone or at the end of a compound. */
const saysKind = (text: string): boolean =>
  folded(text)
    .split(/[^\p{L}]+/u)
    .some((word) =>
      lexicon.parts.kinds.words.some(
        (kind) => word === kind || (kind.length >= KIND_LETTERS_MIN && word.endsWith(kind)),
      ),
    );

/** The person whose name is set largest: of a letter of application, a card, a certificate. */
function holders(source: Source): readonly Draft[] {
  const [run] = headOf(source).large;
  const text = run?.segments.map((one) => one.text).join(' ') ?? '';
  const name = personIn(text);
  return run === undefined || name === undefined ? [] : [draftOf(run, { text: name, score: 0.9 })];
}

/** What stands right below the name of the person. */
function professions(source: Source): readonly Draft[] {
  const { large, segments } = headOf(source);
  const [run] = large;
  const last = run?.segments.at(-1);
  if (
    run === undefined ||
    last === undefined ||
    personIn(run.segments.map(({ text }) => text).join(' ')) === undefined
  )
    return [];
  const next = segments.find(({ index }) => index === last.index + 1);
  const isOne = next !== undefined && !/[\d@:]/.test(next.text) && !isSentence(next.text);
  return isOne
    ? [
        {
          segment: next,
          from: 0,
          to: next.text.length,
          text: next.text,
          value: next.text,
          kind: 'head',
          strictness: 0.6,
          score: 0.87,
        },
      ]
    : [];
}

function draftOf(
  { segments: [segment, ...more] }: Run,
  { text, score }: { readonly text: string; readonly score: number },
): Draft {
  const first = segment as Segment;
  return {
    segment: first,
    from: more.length > 0 ? 0 : Math.max(0, first.text.indexOf(text)),
    to: more.length > 0 ? first.text.length : Math.max(0, first.text.indexOf(text)) + text.length,
    ...(more.length > 0 ? { more } : {}),
    text,
    value: text,
    kind: 'head',
    strictness: 0.6,
    score,
  };
}
