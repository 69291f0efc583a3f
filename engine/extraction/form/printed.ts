import { oneOf } from '../../kernel/text.ts';
import forms from '../lexicon/forms.json' with { type: 'json' };

/** Filler characters alone, and three of a kind among them. */
const FILLERS = /^[\s_.…·•*#Xx\-–—]+$/;
const FILLER = /([_.…·#\-–—Xx*])\1\1|…/;
/** A name between marks that a program, or a person, puts a value for: `[Name]`, `<date>`, `{{total}}`. */
const TEMPLATE = /^(?:#{2,}[^#]+#{2,}|<<?[^<>]+>?>|\{\{?[^{}]+\}?\}|\[{1,2}[^[\]]{2,}\]{1,2}|\$\{[^{}]+\})$/;

/** Stands where a value will stand: a blank to be filled, or a template's mark. */
export const isPlaceholder = (text: string): boolean =>
  (FILLERS.test(text) && FILLER.test(text)) || TEMPLATE.test(text.trim());

const ASKS = new RegExp(`^[("]?${oneOf(forms.asks)}(?![\\p{L}\\p{N}])`, 'iu');
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

/** The number of a line or box of a form, by its form alone: `7`, `31a`, `(2)`. */
export const NUMBERING = /^\(?(\d{1,3})\s?[a-z]?[.)]?$/;
