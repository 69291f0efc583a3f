import { withoutEnd } from '../../kernel/text.ts';
import type { Field } from '../fields/fields.ts';
import { isInstruction, isPlaceholder, isSentence } from '../form/printed.ts';
import { likeWord } from '../matching/likeness.ts';
import { termsIn, weightOf } from '../matching/terms.ts';
import { isDocumentTitle, isName, isTitled, LEGAL_FORM } from '../parties/partyNames.ts';
import type { Segment } from '../places/layout.ts';
import { shapeOf } from '../singles/shapes.ts';
import type { Draft } from '../singles/offer.ts';
import type { Source } from '../source.ts';
import { asksOnly } from './asked.ts';
import { headOf, type Run } from './head.ts';
import { isOrganization, personIn } from './people.ts';

const ALIKE = 0.85;

/** What a field may have from the head of the document: who issued it, its title, whose it is. */
export function headOffers(field: Field, source: Source): readonly Draft[] {
  const shape = shapeOf(field);
  if (shape !== 'text' && shape !== 'name') return [];
  return [
    ...issuers(field, source),
    ...(asksOnly(field, 'title') ? titles(source) : []),
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
  const named = headOf(source).segments.flatMap((segment) => organizationIn(segment) ?? []);
  return named.slice(0, 4).map((one, i): Draft => {
    const words = termsIn(one.text);
    const isOwn = field.terms.name.some(
      (word) => weightOf(word) === 1 && words.some((other) => likeWord(word, other) >= ALIKE),
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

type Named = Pick<Draft, 'segment' | 'from' | 'to' | 'text'>;

const PIECE_ENDS = /\s[·•|–—]\s|\s{2,}|,\s(?=[^,]*\d)|\s-\s/u;

function organizationIn(segment: Segment): Named | undefined {
  const text = segment.text.split(PIECE_ENDS)[0]?.trim() ?? '';
  const isOne = text.includes(' ') && isOrganization(text) && isName(text) && readsAsName(text);
  return isOne ? { segment, from: 0, to: text.length, text } : undefined;
}

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
