import type { Evidence, Finding } from '../finding.ts';
import type { Field } from '../fields/fields.ts';
import { spanFinding, type Prose, type Sentence, type Span } from './prose.ts';
import { oneOf } from '../../kernel/text.ts';
import { lexicon, values } from '../words/lexicon.ts';

const JOINT = '(?:of|and|the|de|der|des|du|della|van|do|da|und|et|y|e)';
const PLACE = `\\p{Lu}[\\p{L}.'’-]*(?:\\s(?:${JOINT}\\s){0,2}\\p{Lu}[\\p{L}'’-]*){0,4}`;
const AREA = `(?:${lexicon.contracts.before_place.pattern}\\s+(?:of\\s+|de\\s+|di\\s+)?|d[’'])*`;
const OF = '(?:of|der|des|de|du|del|della|dello|di|do|da|van|von)';
const LAWS: readonly RegExp[] = [
  new RegExp(`laws?\\s+(?:of|in)\\s+(?:force\\s+in\\s+)?${AREA}(?<place>${PLACE})`, 'u'),
  new RegExp(`${lexicon.contracts.law.pattern}\\s+${OF}\\s+${AREA}(?<place>${PLACE})`, 'u'),
  new RegExp(
    String.raw`(?:by|under|with)\s+(?:the\s+)?(?:internal\s+|substantive\s+)?` +
      String.raw`(?<place>\p{Lu}\p{L}+(?:\s\p{Lu}\p{L}+)?)\s+laws?(?!\p{L})`,
    'u',
  ),
  /(?<place>\p{L}{1,40}(?:es|em|s)\s{1,9}[Rr]echt)(?!\p{L})/u,
  /(?<place>(?:droit|loi|ley|legislación|legge|lei|legislação)\s+\p{Ll}{5,})/u,
];
const GOVERNED = new RegExp(lexicon.contracts.governed.pattern, 'i');
const COURTS: readonly RegExp[] = [
  new RegExp(
    String.raw`(?:courts?|tribunals?)\s+(?:of|in|located\s+in|sitting\s+in|situated\s+in)\s+` +
      `${AREA}(?<place>${PLACE})`,
    'u',
  ),
  new RegExp(`(?:Gerichtsstand|Erfüllungsort)[^.]{0,60}?\\s(?:ist|in)\\s+(?<place>${PLACE})`, 'u'),
  new RegExp(
    `${lexicon.contracts.courts.pattern}(?:\\s+(?:compétents|y\\s+tribunales|competente|bevoegde))?` +
      `\\s+(?:de|di|te|van|in|d[’'])\\s*${AREA}(?<place>${PLACE})`,
    'u',
  ),
];

const firstOf = (
  { sentences }: Prose,
  shapes: readonly RegExp[],
  isMeant: (sentence: string) => boolean,
): Span | undefined => {
  for (const { text, from } of sentences.filter((sentence) => isMeant(sentence.text)))
    for (const shape of shapes) {
      const place = shape.exec(text);
      const found = place?.groups?.['place']?.replace(/\.$/, '');
      if (place === null || found === undefined) continue;
      const at = from + place.index + place[0].indexOf(found);
      return { from: at, to: at + found.length };
    }
  return undefined;
};

const evidenceOf = (label: number, margin: number): Evidence => ({
  label,
  strictness: 0.7,
  margin,
  agreement: 0,
});

const STATE_BEFORE = /State\s+of\s+$/iu;
const STATE = /State\s+of\s+(?=\p{Lu})/u;

/** The place whose law governs the contract, as it stands; with "State of" where the schema says it so. */
export function governingLaw({ about }: Field, prose: Prose): Finding | undefined {
  const isState = about.some((words) => words.includes('state'));
  const place =
    (isState ? firstOf(prose, LAWS, (text) => GOVERNED.test(text) && STATE.test(text)) : undefined) ??
    firstOf(prose, LAWS, (text) => GOVERNED.test(text));
  if (place === undefined) return undefined;
  const [state = ''] = isState ? (STATE_BEFORE.exec(prose.text.slice(0, place.from).slice(-12)) ?? []) : [];
  return spanFinding(prose, { ...place, from: place.from - state.length }, evidenceOf(0.9, 0.3));
}

/** The place whose courts decide. */
export function venue(prose: Prose): Finding | undefined {
  const place = firstOf(prose, COURTS, () => true);
  return place === undefined ? undefined : spanFinding(prose, place, evidenceOf(0.85, 0.2));
}

const NUMBERS: Readonly<Record<string, number>> = Object.fromEntries(
  Object.values(values.short_numbers).flatMap((language) => Object.entries(language)),
);
const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(?:year|jahr|an|année|ans|año|ann[io]|jaar|jaren|ano)/i, 12],
  [/^(?:month|monat|mois|mes|mese|mesi|maand|mês)/i, 1],
  [/^(?:week|woche|semaine|semana|settiman)/i, 12 / 52],
  [/^(?:day|tag|jour|día|giorn|dag|dia)/i, 12 / 365],
];
const DURATION = new RegExp(
  `(?<!\\p{L})(?:(?<word>${oneOf(Object.keys(NUMBERS))})|(?<digits>\\d{1,3}))` +
    String.raw`(?:\s?\(\s?(?<inner>\d{1,3}|\p{L}+)\s?\))?[\s-]+` +
    `(?:(?:full|consecutive|calendar|volle)\\s)?(?<unit>${lexicon.contracts.unit_words.pattern})(?!\\p{L})`,
  'giu',
);
const NOTICE = new RegExp(lexicon.contracts.notice.pattern, 'i');
const { before_duration: BEFORE, before_duration_joints: JOINTS } = lexicon.contracts;
const SAID = new RegExp(`${BEFORE.pattern}(?:\\s+${JOINTS.pattern}){0,4}\\s*(?:at\\s+least\\s+)?$`, 'iu');
const SUBJECT = new RegExp(lexicon.contracts.subject.pattern, 'i');
const LASTS = new RegExp(lexicon.contracts.lasts.pattern, 'i');
const ASIDE = new RegExp(lexicon.contracts.aside.pattern, 'i');
const LEAST = 0.55;

function rate(
  { text }: Sentence,
  at: number,
  field: { readonly notice: boolean; readonly words: readonly string[] },
): number {
  const near = text.slice(Math.max(0, at - 110), at + 90);
  const isNotice = NOTICE.test(near);
  if (field.notice) return isNotice ? 0.9 : 0;
  const score =
    (SAID.test(text.slice(Math.max(0, at - 120), at)) ? 0.35 : 0) +
    (SUBJECT.test(text) ? 0.2 : 0) +
    (LASTS.test(text) ? 0.3 : 0);
  const own = field.words.some((word) => word.length > 4 && text.toLowerCase().includes(word)) ? 0.05 : 0;
  return score + own - (isNotice ? 0.35 : 0) - (ASIDE.test(near) ? 0.25 : 0);
}

/** How long a contract lasts, or a notice period: the words, or their number in the unit of the field's name. */
export function duration(field: Field, prose: Prose): Finding | undefined {
  const words = field.phrases.flat();
  const best = bestDuration(field, prose);
  const finding = best && spanFinding(prose, best.span, evidenceOf(best.score, 0.1));
  if (best === undefined || finding === undefined || field.type === 'string') return finding;
  const value = inUnit(best.match, words);
  return value === undefined ? undefined : { ...finding, value };
}

interface Lasting {
  readonly span: Span;
  readonly score: number;
  readonly match: RegExpExecArray;
}

/** The duration that is said best to be the one asked for; of equals the first. */
function bestDuration(field: Field, { sentences }: Prose): Lasting | undefined {
  const words = field.phrases.flat();
  const about = { notice: words.some((word) => NOTICE.test(word)), words: [...words, ...field.about.flat()] };
  return sentences
    .flatMap((sentence) =>
      [...sentence.text.matchAll(DURATION)].map((match): Lasting => {
        const from = sentence.from + match.index;
        return {
          span: { from, to: from + match[0].length },
          score: rate(sentence, match.index, about),
          match,
        };
      }),
    )
    .filter(({ score }) => score >= LEAST)
    .sort((a, b) => b.score - a.score)[0];
}

/** A number of the unit that the field's name says, else of its own; undefined when it is not whole. */
function inUnit({ groups = {} }: RegExpExecArray, words: readonly string[]): number | undefined {
  const own = monthsIn(groups['unit'] ?? '');
  const asked = words.filter((word) => word.length > 2).map(monthsIn);
  const unit = asked.find((months) => months !== undefined) ?? own;
  const count = countOf(groups);
  if (count === undefined || own === undefined || unit === undefined) return undefined;
  const value = own === unit ? count : (count * own) / unit;
  return Number.isInteger(value) ? value : undefined;
}

/** Months in a unit of time. */
const monthsIn = (unit: string): number | undefined => UNITS.find(([shape]) => shape.test(unit))?.[1];

const countOf = ({ digits, word }: Readonly<Partial<Record<string, string>>>): number | undefined =>
  digits === undefined ? NUMBERS[word?.toLowerCase() ?? ''] : Number(digits);
