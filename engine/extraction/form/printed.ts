import { lexicon } from '../words/lexicon.ts';

/** Filler characters alone, and three of a kind among them. */
const FILLERS = /^[\s_.…·•*#Xx\-–—]+$/;
const FILLER = /([_.…·#\-–—Xx*])\1\1|…/;
/** A name between marks that a program, or a person, puts a value for: `[Name]`, `<date>`, `{{total}}`. */
const TEMPLATE = /^(?:#{2,}[^#]+#{2,}|<<?[^<>]+>?>|\{\{?[^{}]+\}?\}|\[{1,2}[^[\]]{2,}\]{1,2}|\$\{[^{}]+\})$/;

/** Stands where a value will stand: a blank to be filled, or a template's mark. */
export const isPlaceholder = (text: string): boolean =>
  (FILLERS.test(text) && FILLER.test(text)) || TEMPLATE.test(text.trim());

/** The head nouns of labels: a text without digits that ends in one is no name. */
const LABEL_ENDS = new RegExp(`(?<!\\p{L})${lexicon.forms.label_ends.pattern}[.:]?$`, 'iu');

/** Reads as the label of a form, and not as a name: "Spouse's social security number", "H) employer". */
export const isLabelLike = (text: string): boolean =>
  /^(?:\d{1,3}[.)]|\p{Lu}\))\s/u.test(text) || (!/\d/.test(text) && LABEL_ENDS.test(text.trim()));

const ASKS = new RegExp(`^[("]?${lexicon.forms.instructions.pattern}(?![\\p{L}\\p{N}])`, 'iu');
/** A text all in parentheses says how to fill in, unless it has a number. */
const ASIDE = /^\([^()\d]+\)\.?$/u;
const INSTRUCTION_WORDS_MIN = 3;

/** Tells the reader what to do, as forms do: "See instructions", "(if applicable)". */
export const isInstruction = (text: string): boolean =>
  ASIDE.test(text.trim()) || (ASKS.test(text.trim()) && wordCount(text) >= INSTRUCTION_WORDS_MIN);

/** Words of two letters or more. */
export const wordCount = (text: string): number => text.match(/\p{L}{2,}/gu)?.length ?? 0;

const SENTENCE_WORDS = 7;

/** Runs on as sentences do: many words, most of which begin small. */
export function isSentence(text: string): boolean {
  const words = wordCount(text);
  const small = text.match(/(?<!\p{L})\p{Ll}{2,}/gu)?.length ?? 0;
  return words >= SENTENCE_WORDS && small * 2 >= words;
}

/** A mark that points from a label to its blank. */
export const POINTS = /[:▶►→»]\s*$/u;
/** Stands between a label and its value, and is neither. */
export const isJoint = (text: string): boolean => /^[:▶►→»|=·.…_\s-]+$/u.test(text);

const NUMBERED = /^\(?(\d{1,2}|[Il])\s?[.,)]\s*\p{L}/u;

/** The number that a label of a form begins with: 2 of "2. Registration No."; recognition takes 1 for a letter. */
function itemNumber(text: string): number | undefined {
  const number = NUMBERED.exec(text)?.[1];
  return number === undefined ? undefined : /\d/.test(number) ? Number(number) : 1;
}

/** Whether a text begins with a number as the labels of forms do. */
export const isItem = (text: string): boolean => NUMBERED.test(text);

const ITEMS_APART = 3;

/** Whether a text begins with one of the numbers that come after another's: both are labels of one form. */
export function isNextItem(text: string, before: string): boolean {
  const [first, next] = [itemNumber(before), itemNumber(text)];
  return first !== undefined && next !== undefined && next > first && next - first <= ITEMS_APART;
}

/** The number of a line or box of a form, by its form alone: `7`, `31a`, `(2)`. */
export const NUMBERING = /^\(?(\d{1,3})\s?[a-z]?[.)]?$/;

/** Says what the one named above it is: "as Borrower," on the cover of a contract. */
export const isCapacity = (text: string): boolean =>
  /^(?:as|als|en tant que|en calidad de|in qualità di|como)\s(?:an?\s|the\s)?\p{Lu}/u.test(text);
