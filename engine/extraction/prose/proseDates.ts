import { datesIn, type DateShape } from '../values/dates.ts';
import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import { termsIn } from '../fields/terms.ts';
import { sentenceAt, spanFinding, type Prose } from './prose.ts';
import { lexicon } from '../words/lexicon.ts';

/** What is said right before a date, and how surely it then is the one. */
type Cue = readonly [RegExp, number];

/** A cue from the pieces of its expression. It is looked for in the 160 characters before a date, no more. */
const cue = (weight: number, ...pieces: readonly string[]): Cue => [
  new RegExp(`${pieces.join('')}\\s*$`, 'iu'),
  weight,
];

const MADE: readonly Cue[] = [
  cue(
    0.85,
    String.raw`(?:made|entered\s+into|executed|concluded|signed)(?:\s+and\s+\p{L}+(?:\s+into)?)?(?:,)?\s*`,
    String.raw`(?:effective\s+)?(?:as\s+of|as\s+effective\s+of|on|this|the|effective)?(?:\s+the)?`,
  ),
  cue(0.8, String.raw`(?:dated|dated\s+as\s+of|dated\s+the|is\s+dated(?:\s+as\s+of)?)`),
  cue(0.62, String.raw`(?:^|[\s(])`, lexicon.contracts.on_day.pattern),
  cue(0.58, String.raw`(?:^|\n)\s*(?:date[d]?|datum|fecha|data)\s*:?`),
];
const EFFECTIVE: readonly Cue[] = [
  cue(
    1,
    String.raw`(?:effective|in\s+effect|in\s+force)(?:\s+(?:date|as|of|from|on|is|shall|be|the))*\s*[:,]?`,
  ),
  cue(0.9, String.raw`(?:commenc\p{L}+|begin\p{L}*|start\p{L}*)(?:\s+\p{L}+){0,3}\s*[:,]?`),
  cue(
    1,
    String.raw`(?:tritt\s+(?:am|mit\s+wirkung\s+(?:vom|zum|ab))|mit\s+wirkung\s+(?:vom|zum|ab)|`,
    String.raw`beginnt\s+am|gültig\s+ab)(?:\s+dem)?`,
  ),
  cue(
    1,
    lexicon.contracts.takes_effect.pattern,
    String.raw`(?:\s+(?:le|du|el|del|de|dal|da|il|op|van|em|partir|día|dia|desde|a|al)){0,4}`,
  ),
];
const EXPIRY: readonly Cue[] = [
  cue(
    0.95,
    lexicon.contracts.expires.pattern,
    String.raw`(?:\s+(?:on|date|is|at|of|the|automatically|am|zum|le|el|il|op|em|al|a|in|und\s+mit))*\s*:?`,
  ),
];

const wordsOf = ({ phrases }: Field): string => phrases.flat().join(' ');

/** A period has ends of its own, whenever the document was made. */
const OF_PERIOD = /period|zeitraum|p[ée]riode|per[ií]odo/;

/** "The date the deed is made as of": by its description. */
const SAYS_MADE = lexicon.asks.making;

/** Words of an end, and no others that have its letters: an amendment has no "end". */
const OF_END = new RegExp(
  String.raw`(?<!\p{L})(?:expir|terminat|until|ablauf|vencimiento|scadenza|eind|` +
    String.raw`(?:\p{L}*ende|end(?:s|ing|ed)?|fin|bis)(?!\p{L}))`,
  'u',
);

function cuesFor(field: Field): readonly Cue[] {
  const words = wordsOf(field);
  if (OF_PERIOD.test(words)) return OF_END.test(words) ? EXPIRY : EFFECTIVE;
  if (/effective|start|commenc|begin|kraft|effet|vigor|vigencia|decorrenza|ingang|valid from/.test(words))
    return [...EFFECTIVE, ...weaker(MADE)];
  if (OF_END.test(words)) return EXPIRY;
  const isOfContract =
    /agreement|contract|amendment|sign|execut|made|dated|vertrag|abschluss|contrat|letter|document|brief|report/u;
  const isSaid = field.about.flat().some((word) => SAYS_MADE.has(word));
  return isOfContract.test(words) || isSaid || words === 'date' ? MADE : [];
}

const weaker = (cues: readonly Cue[]): readonly Cue[] => cues.map(([cue, weight]) => [cue, weight - 0.05]);

const OTHER = /(?:that\s+certain|original|prior|previous|merger|amended\s+as|pursuant)[^.]{0,120}$/i;
const LEAST = 0.55;
/** A contract says when it was made in its first words or beside its signatures. */
const HEAD_CHARACTERS = 1500;
const TAIL_CHARACTERS = 1200;
/** Of a long one the cover and the table of contents come before. */
const HEAD_SHARE = 0.03;

interface Rated {
  readonly date: DateShape;
  readonly score: number;
}

/** The date of which a sentence, or the definition of a term, says that it is what the field asks for. */
export const proseDate = (field: Field, prose: Prose, dayFirst: boolean): Finding | undefined =>
  cuedDate(field, prose, dayFirst) ?? definedDate(field, prose, dayFirst);

/** undefined when none is said to be it. */
function cuedDate(field: Field, prose: Prose, dayFirst: boolean): Finding | undefined {
  const cues = cuesFor(field);
  if (cues.length === 0) return undefined;
  const rated = datesIn(prose.text, dayFirst && !isMonthFirst(prose.text))
    .map((date): Rated => ({ date, score: scoreOf(prose, date, cues) }))
    .filter(({ score }) => score >= LEAST)
    .sort((a, b) => b.score - a.score || a.date.from - b.date.from);
  const [best] = rated;
  if (best === undefined) return undefined;
  const rival = rated.find(({ date }) => date.iso !== best.date.iso)?.score ?? 0;
  const evidence = {
    label: Math.min(1, best.score),
    strictness: 1,
    margin: best.score - rival,
    agreement: 0,
  };
  const finding = spanFinding(prose, best.date, evidence);
  return finding === undefined ? undefined : { ...finding, value: best.date.iso };
}

const DEFINED =
  /["“„«]([^"”“»]{3,60})["”»]\s{1,3}(?:means|shall mean|bedeutet|bezeichnet|désigne|significa|betekent)(?!\p{L})/gu;
const DEFINITION_CHARACTERS = 300;
const DEFINED_SURE = { label: 0.75, strictness: 1, margin: 0.1, agreement: 0 } as const;

/** The first date in the definition of a term that is called as the field is: `"Maturity Date" means …`. */
function definedDate(field: Field, prose: Prose, dayFirst: boolean): Finding | undefined {
  const { name } = field.terms;
  for (const match of prose.text.matchAll(DEFINED)) {
    const term = termsIn(match[1] ?? '');
    if (term.length !== name.length || !name.every((word) => term.includes(word))) continue;
    const from = match.index + match[0].length;
    const end = sentenceAt(prose, from).to;
    const [date] = datesIn(prose.text.slice(from, Math.min(end, from + DEFINITION_CHARACTERS)), dayFirst);
    const at = date && { from: from + date.from, to: from + date.to };
    const finding = at && spanFinding(prose, at, DEFINED_SURE);
    if (date !== undefined && finding !== undefined) return { ...finding, value: date.iso };
  }
  return undefined;
}

/** "May 3, 2031" everywhere and never "3 May 2031": then 5/3/31 is of May too. */
const isMonthFirst = (text: string): boolean =>
  /(?<!\p{L})\p{Lu}\p{L}{2,8}\.?\s\d{1,2},\s\d{4}/u.test(text) &&
  !/\d{1,2}\.?\s\p{Lu}\p{L}{2,8}\.?\s\d{4}/u.test(text);

function scoreOf(prose: Prose, { from, to }: DateShape, cues: readonly Cue[]): number {
  const start = Math.max(sentenceAt(prose, from).from - 1, from - 160, 0);
  const before = prose.text.slice(start, from);
  const { length } = prose.text;
  const isFramed = from < Math.max(HEAD_CHARACTERS, HEAD_SHARE * length) || from > length - TAIL_CHARACTERS;
  const cue = cues
    .filter((one) => isFramed || !MADE.some(([shape]) => shape === one[0]))
    .reduce((most, [shape, weight]) => (shape.test(before) ? Math.max(most, weight) : most), 0);
  if (cue === 0) return 0;
  const named = /^,?\s*\([^)]{0,20}["“„«][^)]{0,20}effective/i.test(prose.text.slice(to, to + 60)) ? 0.15 : 0;
  const early = 0.1 * (1 - from / prose.text.length);
  return cue + named + early - (OTHER.test(before) ? 0.45 : 0);
}
