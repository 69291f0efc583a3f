import type { Field } from './fields.ts';
import { findingOf, textFinding, type Finding } from './finding.ts';
import { wholeScore } from './labels.ts';
import { overlap, type Layout, type Segment } from './layout.ts';
import type { Source } from './source.ts';
import { folded, labelWords, phraseSimilarity } from './words.ts';

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
  for (const label of labelsOf(field, source)) {
    const finding = valueOf(label, source.layout);
    if (finding !== undefined) return finding;
  }
  return undefined;
}

function valueOf({ segment, valueFrom, score }: Label, layout: Layout): Finding | undefined {
  const evidence = { label: score, strictness: 0.5, margin: 0.2, agreement: 0 };
  if (segment.text.slice(valueFrom).trim() !== '')
    return textFinding([{ segment, from: valueFrom, to: segment.text.length }], evidence);
  const beside = rightOf(segment, layout) ?? belowOf(segment, layout);
  if (beside === undefined) return undefined;
  const from = /^[:\s]*/.exec(beside.text)?.[0].length ?? 0;
  return textFinding([{ segment: beside, from, to: beside.text.length }], evidence);
}

const isValue = ({ text }: Segment): boolean => /[\p{L}\p{N}]/u.test(text) && !/:\s*$/.test(text);

const rightOf = (segment: Segment, { rows }: Layout): Segment | undefined =>
  rows[segment.row]?.segments.find((other) => other.index === segment.index + 1 && isValue(other));

function belowOf(segment: Segment, { rows }: Layout): Segment | undefined {
  const next = rows[segment.row + 1]?.segments.find((other) => overlap(other, segment) > 0.3);
  if (next === undefined || next.page !== segment.page || !isValue(next)) return undefined;
  return next.y0 - segment.y1 < 2 * (segment.y1 - segment.y0) + 4 ? next : undefined;
}

const YES = new Set('yes true y ja oui si sim vrai wahr vero x ✓ ✔ ☑ ☒ checked on'.split(' '));
const NO = new Set('no false n nein non nee nao faux falsch falso ☐ unchecked off none'.split(' '));

/** Yes or no as a word or a box right beside the label. */
export function findBoolean(field: Field, source: Source): Finding | undefined {
  for (const label of labelsOf(field, source)) {
    const finding = valueOf(label, source.layout);
    const word = folded(finding?.text ?? '').split(/[\s,.;]+/)[0] ?? '';
    if (finding !== undefined && (YES.has(word) || NO.has(word))) return { ...finding, value: YES.has(word) };
  }
  return undefined;
}

const SAME_CHOICE = 0.85;

/** One of the schema's choices: as the labelled value says it, else the only one that the document names. */
export function findChoice(field: Field, source: Source): Finding | undefined {
  const labelled = findText(field, source);
  const said = labelled === undefined ? undefined : choiceIn(field, labelled.text);
  if (labelled !== undefined && said !== undefined) return { ...labelled, value: said };
  const currency = source.candidates
    .get('currency')
    ?.find(({ value }) => typeof value === 'string' && field.choices.includes(value));
  return currency === undefined ? undefined : findingOf(currency, { label: 0.5, margin: 0, agreement: 0 });
}

function choiceIn({ choices }: Field, text: string): string | undefined {
  const words = labelWords(text);
  const exact = choices.find((choice) => folded(choice) === folded(text.trim()));
  if (exact !== undefined) return exact;
  const scored = choices
    .map((choice) => ({ choice, score: phraseSimilarity(labelWords(choice.replace(/[_-]/g, ' ')), words) }))
    .sort((a, b) => b.score - a.score);
  const [best] = scored;
  return best !== undefined && best.score >= SAME_CHOICE ? best.choice : undefined;
}

/** The texts that a label lists, parted by commas or semicolons. */
export function findTexts(field: Field, source: Source): readonly Finding[] {
  const whole = findText(field, source);
  if (whole === undefined) return [];
  const parts = whole.text
    .split(/\s*[,;•|]\s*/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return parts.map((text) => ({ ...whole, value: text, text }));
}
