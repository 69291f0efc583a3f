import type { Json } from '../kernel/json.ts';
import { calibrated } from './calibration.ts';
import type { EvidenceKind } from './evidence.ts';
import type { Candidate } from './candidates.ts';
import { wordsIn, type Segment } from './places/layout.ts';
import type { Word } from '../document/document.ts';

/** A value with the words that it was read from. */
export interface Finding {
  readonly value: Json;
  readonly text: string;
  readonly page: number;
  readonly words: readonly Word[];
  readonly confidence: number;
  /** How it was won, where that is told. */
  readonly kind?: EvidenceKind | undefined;
}

/** How a finding was won; all 0..1. */
export interface Evidence {
  readonly label: number;
  readonly strictness: number;
  /** Lead over the next best candidate. */
  readonly margin: number;
  /** Sums agree: 1; unknown: 0. */
  readonly agreement: number;
  readonly kind?: EvidenceKind;
}

/**
 * Raw = logistic(5 × label + 2 × strictness + 2 × margin + 2 × agreement − 5), times OCR's own; confidence is
 * the share of values that are right at it, 0..1 in thousandths.
 */
export function confidenceOf(evidence: Evidence, words: readonly Word[]): number {
  const { label, strictness, margin, agreement } = evidence;
  const sum = 5 * label + 2 * strictness + 2 * margin + 2 * agreement - 5;
  const read = words.reduce((least, { confidence }) => Math.min(least, confidence), 1);
  return Math.round(1000 * calibrated(read / (1 + Math.exp(-sum)))) / 1000;
}

/** The finding of a candidate as it stands in its segment. */
export function findingOf(
  candidate: Candidate,
  evidence: Omit<Evidence, 'strictness'>,
  value?: Json,
): Finding {
  const { segment, from, to, strictness, text } = candidate;
  const words = wordsIn(segment, from, to);
  return {
    value: value ?? candidate.value,
    text: text.trim(),
    page: segment.page,
    words,
    confidence: confidenceOf({ ...evidence, strictness }, words),
    kind: evidence.kind,
  };
}

/** A finding that is text of one or more segments. */
export function textFinding(
  parts: readonly { readonly segment: Segment; readonly from: number; readonly to: number }[],
  evidence: Evidence,
): Finding | undefined {
  const [first] = parts;
  const text = parts.map(({ segment, from, to }) => segment.text.slice(from, to).trim()).join(' ');
  if (first === undefined || text === '') return undefined;
  const words = parts.flatMap(({ segment, from, to }) => wordsIn(segment, from, to));
  return {
    value: text,
    text,
    page: first.segment.page,
    words,
    confidence: confidenceOf(evidence, words),
    kind: evidence.kind,
  };
}
