import { type EvidenceKind, textFinding, type Finding } from './finding.ts';
import type { Field } from './fields/fields.ts';
import { wholeScore } from './words/says.ts';
import { folded } from '../kernel/text.ts';
import { labelWords, nameWords } from './words/labelWords.ts';
import { phraseSimilarity, formAlike } from './words/alike.ts';
import { below, nextOf } from './form/neighbours.ts';
import type { Segment } from './places/layout.ts';
import type { Source } from './source.ts';
import { lexicon } from './words/lexicon.ts';

const LABELLED = 0.75;

/** A segment, or the part of it before a colon, that names the field. */
interface Label {
  readonly segment: Segment;
  /** Where the value begins in the segment; its end when the segment is all label. */
  readonly valueFrom: number;
  readonly score: number;
}

/** The labels that name a field, the best first. */
function labelsOf(field: Field, { layout, labels }: Source): readonly Label[] {
  return layout.segments
    .map((segment): Label => {
      const colon = segment.text.indexOf(':');
      const label = colon < 0 ? segment.text : segment.text.slice(0, colon);
      return {
        segment,
        valueFrom: colon < 0 ? segment.text.length : colon + 1,
        score: wholeScore(label, (words) => labels.score(field, words)),
      };
    })
    .filter(({ score }) => score >= LABELLED)
    .sort((a, b) => b.score - a.score || a.segment.index - b.segment.index);
}

/** The text that a label names: after its colon, to its right, or below it. */
export function findText(field: Field, source: Source): Finding | undefined {
  let best: { readonly finding: Finding; readonly score: number } | undefined;
  for (const label of labelsOf(field, source)) {
    if (best !== undefined && label.score <= best.score) break;
    const value = valueOf(label, source);
    if (value !== undefined && value.score > (best?.score ?? 0)) best = value;
  }
  return best?.finding;
}

const OWN = 1;
const RIGHT = 0.97;
const BELOW = 0.92;

type Parts = Parameters<typeof textFinding>[0];

interface Valued {
  readonly finding: Finding;
  readonly score: number;
}

function valueOf({ segment, valueFrom, score }: Label, source: Source): Valued | undefined {
  const placed = (parts: Parts, weight: number, kind: EvidenceKind): Valued | undefined => {
    const finding = textFinding(parts, {
      label: score * weight,
      strictness: 0.5,
      margin: 0.2,
      agreement: 0,
      kind,
    });
    return finding === undefined ? undefined : { finding, score: score * weight };
  };
  if (segment.text.slice(valueFrom).trim() !== '')
    return placed([{ segment, from: valueFrom, to: segment.text.length }], OWN, 'colon');
  const whole = (other: Segment, weight: number, kind: EvidenceKind): Valued | undefined =>
    placed(
      [{ segment: other, from: /^[:\s]*/.exec(other.text)?.[0].length ?? 0, to: other.text.length }],
      weight,
      kind,
    );
  const right = rightOf(segment, source);
  if (right !== undefined) return whole(right, RIGHT, 'beside');
  const under = belowOf(segment, source);
  return under === undefined ? undefined : whole(under, BELOW, 'under');
}

const LABEL_ITSELF = 0.9;

/** Text that a label may name: not itself a label, of another field perhaps. */
export function isValue({ text }: Segment, { labels }: Source): boolean {
  if (!/[\p{L}\p{N}☐☑☒✓✔]/u.test(text) || /:\s*$/.test(text)) return false;
  const before = text.split(':')[0] ?? '';
  const label = before.length < text.length && before.length > 1 ? before : text;
  if (/\d/.test(label)) return true;
  if (YES.has(folded(label)) || NO.has(folded(label))) return true;
  const isLabel = (part: string): boolean => wholeScore(part, (words) => labels.any(words)) >= LABEL_ITSELF;
  return !isLabel(label) && !isRunOfLabels(label, isLabel);
}

/** Headers of columns that stand close read as one text. */
function isRunOfLabels(text: string, isLabel: (part: string) => boolean): boolean {
  const words = text.split(' ');
  if (words.length > 5) return false;
  return words.some(
    (_, i) => i > 0 && isLabel(words.slice(0, i).join(' ')) && isLabel(words.slice(i).join(' ')),
  );
}

function rightOf(segment: Segment, source: Source): Segment | undefined {
  const next = nextOf(segment, source.layout);
  return next !== undefined && isValue(next, source) ? next : undefined;
}

/** The nearest text below that stands under the label. */
function belowOf(segment: Segment, source: Source): Segment | undefined {
  const next = below(segment, source.layout, 2 * (segment.y1 - segment.y0) + 6);
  return next !== undefined && isValue(next, source) ? next : undefined;
}

const YES = lexicon.choices.yes;
const NO = lexicon.choices.no;

const TICKED = /[☑☒✓✔✗✘]|\[ ?[xX] ?\]|\([xX]\)/u;

/** What is said or ticked: "Yes", "☒ Yes ☐ No". */
export function yesOrNo(text: string): boolean | undefined {
  const said = tickedOption(text) ?? text;
  const [word = ''] = folded(said)
    .trim()
    .split(/[\s,.;]+/);
  if (YES.has(word)) return true;
  return NO.has(word) ? false : undefined;
}

const BEFORE_BOX = /(?=[☐☑☒✓✔✗✘]|\[[ xX]?\]|\([xX]\))/u;

/** Of several options with boxes, the text of the one that is ticked. */
export function tickedOption(text: string): string | undefined {
  const options = text.split(BEFORE_BOX).filter((option) => option.trim() !== '');
  if (options.length < 2) return undefined;
  const ticked = options.filter((option) => TICKED.test(option));
  return ticked.length === 1 ? ticked[0]?.replace(/^[^\p{L}\p{N}]*x?\]?\)?\s*/u, '') : undefined;
}

const SAME_CHOICE = 0.85;

/** The one of the schema's choices that a text says. */
export function choiceIn({ choices }: Field, text: string): string | undefined {
  const words = labelWords(text);
  const exact = choices.find((choice) => folded(choice) === folded(text.trim()));
  if (exact !== undefined) return exact;
  const initial = /^\p{Lu}$/u.test(text.trim())
    ? choices.filter((one) => folded(one).startsWith(folded(text.trim())))
    : [];
  if (initial.length > 0) return onlyOne(initial.map((choice) => ({ choice })));
  const named = choices.map((choice) => ({ choice, own: nameWords(choice) }));
  const scored = named
    .map(({ choice, own }) => ({ choice, score: phraseSimilarity(own, words) }))
    .sort((a, b) => b.score - a.score);
  const [best] = scored;
  if (best !== undefined && best.score >= SAME_CHOICE) return best.choice;
  return words.length > CHOICE_WORDS_MAX || words.some((word) => DENIED.has(word))
    ? undefined
    : onlyOne(named.filter(({ own }) => isSaidIn(own, words)));
}

/** A text of so many words may say a choice and some more: "Bank transfer (SEPA)". */
const CHOICE_WORDS_MAX = 8;
const DENIED = lexicon.choices.denied;

const isSaidIn = (own: readonly string[], words: readonly string[]): boolean =>
  own.some((word) => /\p{L}{3}/u.test(word)) &&
  own.every((word) => words.some((other) => formAlike(word, other) >= SAME_CHOICE));

const onlyOne = ([one, ...others]: readonly { readonly choice: string }[]): string | undefined =>
  others.length === 0 ? one?.choice : undefined;

/** The choices that a text is made of: "WR-CR" of two; none where any of it is no choice. */
export function choicesIn(field: Field, text: string): readonly string[] {
  const whole = choiceIn(field, text);
  if (whole !== undefined) return [whole];
  const parts = text.split(/[^\p{L}\p{N}]+/u).filter((part) => part !== '');
  const found = parts.flatMap(
    (part) => field.choices.find((choice) => folded(choice) === folded(part)) ?? [],
  );
  return found.length === parts.length ? found : [];
}

/** The texts that a label lists, parted by commas or semicolons. */
export function findTexts(field: Field, source: Source): readonly Finding[] {
  const whole = findText(field, source);
  if (whole === undefined) return [];
  const parts = whole.text
    .split(/[,;•|]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return parts.map((text) => ({ ...whole, value: text, text }));
}
