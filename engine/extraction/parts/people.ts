import { folded } from '../../kernel/text.ts';
import { LEGAL_FORM } from '../parties/partyNames.ts';
import { lexicon } from '../words/lexicon.ts';

const TOKEN = String.raw`(?:\p{Lu}[\p{L}'’-]{1,30}|\p{Lu}\.(?:-?\p{Lu}\.)?)`;
const ACADEMIC = `(?:${lexicon.parts.academic.pattern}(?:\\.\\s?|\\s)){0,3}`;
const PARTICLES = `(?:${lexicon.parts.particles.pattern}\\s){0,2}`;
const AFTER_NAME = String.raw`(?![\p{L}\p{N}'’-])`;

/** How persons are called: two to five words that begin large, academic degrees before them. */
const PERSON = `${ACADEMIC}${TOKEN}(?:\\s${PARTICLES}${TOKEN}){1,4}${AFTER_NAME}`;
/** "Mr", "Frau", "Mme": how a person is spoken to, no part of the name. */
const CIVILITY = `(?:${lexicon.parts.civilities.pattern}\\.?\\s){0,2}`;

const WHOLE = new RegExp(`^${CIVILITY}(${PERSON})$`, 'u');
const SPOKEN_TO = new RegExp(`^${lexicon.parts.civilities.pattern}\\.?\\s(?=\\p{Lu})`, 'u');

/** A label without a mark that a name follows on its line: "Name Jane Doe". */
const CALLED = /^(?:full |first |last )?(?:name|nom|nombre|nome|naam)\s(?=\p{Lu}\p{L}*\s\p{Lu})/iu;

/** A text without the words that only say that it is a name, or how to speak to a person. */
export const withoutCivility = (text: string): string => text.replace(CALLED, '').replace(SPOKEN_TO, '');

const COMPOUND_MIN = 6;
const ORGANIZATIONS = lexicon.parts.organization;
/** Ends of compounds: "Volkshochschule", "Woonstichting". */
const COMPOUNDED = lexicon.parts.organization.words.filter(({ length }) => length >= COMPOUND_MIN);

/** A legal form, or what only organizations are called: "Council", "Universität". */
export const isOrganization = (text: string): boolean =>
  LEGAL_FORM.test(text) ||
  folded(text)
    .split(/[^\p{L}-]+/u)
    .some((word) => ORGANIZATIONS.has(word) || COMPOUNDED.some((one) => word.endsWith(one)));

/** The person that a text names, and nothing else. */
export function personIn(text: string): string | undefined {
  const name = WHOLE.exec(text.trim())?.[1];
  return name === undefined || isOrganization(name) ? undefined : name;
}

const AT = new RegExp(PERSON, 'uy');

/** The person whose name begins there in a text. */
export function personAt(text: string, from: number): string | undefined {
  AT.lastIndex = from;
  const name = AT.exec(text)?.[0];
  return name === undefined || isOrganization(name) ? undefined : name;
}
