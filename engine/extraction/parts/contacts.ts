import { confidenceOf, type Finding } from '../finding.ts';
import type { Field } from '../fields/fields.ts';
import { isLabelLike, isSentence, wordCount } from '../form/printed.ts';
import { ALIKE, spelledAlike } from '../words/alike.ts';
import { termsIn, weightOf } from '../fields/terms.ts';
import { withoutEnd } from '../../kernel/text.ts';
import { EMAIL, isFax } from '../values/identifiers.ts';
import { wordsIn } from '../places/layout.ts';
import { paragraphsOf } from '../places/paragraphs.ts';
import type { Draft } from '../singles/values.ts';
import type { Source } from '../source.ts';
import { headOf } from './head.ts';
import { personIn } from './people.ts';

/** How somebody may be reached: the words of names that ask for it and for nothing else, and its form. */
interface Contact {
  readonly words: readonly string[];
  readonly form: RegExp;
}

const LINK = new RegExp(
  String.raw`(?<![\p{L}\p{N}@.])(?:(?:https?:\/\/|www\.)[^\s|,;()<>]{3,200}|` +
    String.raw`(?:[a-z0-9-]{1,40}\.){1,3}[a-z]{2,6}\/[^\s|,;()<>]{1,150})`,
  'giu',
);
const PHONE = new RegExp(
  String.raw`(?<![\p{L}\p{N}+.-])(?:\+\d{1,3}[\s.-]?)?(?:\(\d{2,5}\)\s?|\d{2,4}[\s.-])?` +
    String.raw`\d{3,4}[\s.-]?\d{3,4}(?:[\s.-]?\d{2,4})?(?!\p{N})`,
  'gu',
);

const CONTACTS: readonly Contact[] = [
  { words: ['email', 'mail', 'emails', 'address', 'contact'], form: EMAIL },
  {
    words: ['phone', 'phones', 'telephone', 'mobile', 'cell', 'contact', 'telefono', 'telefon', 'numbers'],
    form: PHONE,
  },
  {
    words: ['link', 'links', 'url', 'urls', 'website', 'web', 'social', 'profiles', 'homepage', 'online'],
    form: LINK,
  },
];
const PHONE_DIGITS = [9, 13] as const;

/** Words that such names have beside others. */
const SAY_LITTLE = ['address', 'contact', 'profiles', 'numbers', 'online'];

const isOf = ({ words }: Contact, { terms: { name } }: Field): boolean =>
  name.length > 0 &&
  name.every((word) => weightOf(word) < 1 || words.some((one) => spelledAlike(one, word) >= ALIKE)) &&
  name.some((word) => weightOf(word) === 1 && !SAY_LITTLE.some((one) => spelledAlike(one, word) >= ALIKE));

type Found = Pick<Draft, 'segment' | 'from' | 'to' | 'text'>;

/** What has the form in the head of the document; without a label, for those name what is theirs, as of a fax. */
function inHead({ form }: Contact, source: Source): readonly Found[] {
  return headOf(source).segments.flatMap((segment) =>
    [...segment.text.matchAll(form)].flatMap(({ 0: match, index }): readonly Found[] => {
      const text = withoutEnd(match, /[.\s]/);
      const before = segment.text.slice(0, index);
      const digits = text.replace(/\D/g, '').length;
      if (form === PHONE && (digits < PHONE_DIGITS[0] || digits > PHONE_DIGITS[1])) return [];
      const found = { segment, from: index, to: index + text.length, text };
      return isFax(segment.text, found) || isLabelLike(before.trim()) ? [] : [found];
    }),
  );
}

const FIRST = 0.9;
const LATER = 0.6;

/** A telephone number or a web address at the head of a document, by its form alone; of hosts by their names. */
export function contactOffers(field: Field, source: Source): readonly Draft[] {
  if (field.type !== 'string' || field.choices.length > 0) return [];
  return contactsFor(field, source).map((one, i) => ({
    ...one,
    value: one.text,
    kind: 'head',
    strictness: 1,
    score: i === 0 ? FIRST : LATER,
  }));
}

function contactsFor(field: Field, source: Source): readonly Found[] {
  const contact = CONTACTS.find((one) => isOf(one, field));
  if (contact !== undefined) return isPerson(source) ? inHead(contact, source) : [];
  const [link] = CONTACTS.filter(({ form }) => form === LINK);
  const host = ({ text }: Found): readonly string[] =>
    termsIn(text.replace(/^https?:\/\//, '').split('/')[0] ?? '');
  return link === undefined || field.terms.name.length > 2
    ? []
    : inHead(link, source).filter((one) =>
        field.terms.name.some((word) => word.length > 3 && host(one).includes(word)),
      );
}

/** A person, and a mail, stand in the head: what else stands there is how to reach them. */
const isPerson = (source: Source): boolean => {
  const [mail] = CONTACTS;
  const [first, ...others] = headOf(source).segments;
  const isNamed = [first, ...others.slice(0, FIRST_TEXTS - 1)].some(
    (segment) => segment !== undefined && personIn(segment.text) !== undefined,
  );
  return isNamed && mail !== undefined && inHead(mail, source).length > 0;
};

/** Texts of the head that a name is looked for in. */
const FIRST_TEXTS = 4;

/** No label says them. */
const BY_FORM = 0.85;

/** A list of such: all that stand in the head. */
export function contactList(field: Field, source: Source): readonly Finding[] {
  const contact = field.type === 'string' ? CONTACTS.find((one) => isOf(one, field)) : undefined;
  if (contact === undefined || !isPerson(source)) return [];
  return inHead(contact, source).map(({ segment, from, to, text }) => {
    const words = wordsIn(segment, from, to);
    const confidence = confidenceOf({ label: 0.9, strictness: 1, margin: 0.3, agreement: 0 }, words);
    return { value: text, text, page: segment.page, words, confidence: Math.min(BY_FORM, confidence) };
  });
}

const ABOUT = [
  'summary',
  'profile',
  'statement',
  'about',
  'objective',
  'profil',
  'perfil',
  'resumen',
  'profilo',
];
const PARAGRAPHS_MAX = 20;
const WORDS_MIN = 12;

/** What somebody says of themselves: the first paragraph behind how to reach them. */
export function aboutOffers({ type, terms: { name } }: Field, source: Source): readonly Draft[] {
  if (type !== 'string' || !name.some((word) => ABOUT.includes(word)) || !isPerson(source)) return [];
  const segment = paragraphsOf(source.layout)
    .all.slice(0, PARAGRAPHS_MAX)
    .find(({ text }) => wordCount(text) >= WORDS_MIN && isSentence(text) && !text.includes('@'));
  if (segment === undefined) return [];
  const { text } = segment;
  return [
    { segment, from: 0, to: text.length, text, value: text, kind: 'head', strictness: 0.6, score: FIRST },
  ];
}
