import { EVIDENCE_KINDS, type EvidenceKind } from '../finding.ts';

/** Who found a value: the rules of a known concept, the labels by the schema's own words, or both the same. */
export type Origin = 'rules' | 'labels' | 'both';

/** How a single value was won. */
export interface Way {
  readonly origin: Origin;
  readonly kind: EvidenceKind;
  /** Any text would do: only its label speaks for it. */
  readonly isFree: boolean;
  /** The schema asks for what the concepts were made for: invoices, receipts, orders, statements. */
  readonly isKnown: boolean;
}

/** Likeness of label and field from which each share counts. */
const LEVELS = [0.95, 0.85, 0.7, 0.6, 0] as const;
type Shares = readonly [number, number, number, number, number];

/**
 * The share of values that were right where only the labels found them, by kind of evidence and likeness.
 * Source: counts over 44 documents that rules were tuned on and 32 of other layouts, kinds and languages that
 * no rule had seen, which weigh more; each level drawn to its neighbours as far as it had few values.
 */
const TYPED: Readonly<Record<EvidenceKind, Shares>> = {
  colon: [0.95, 0.93, 0.8, 0.75, 0.5],
  cell: [0.95, 0.93, 0.8, 0.75, 0.5],
  right: [0.91, 0.72, 0.6, 0.5, 0.4],
  below: [0.78, 0.7, 0.6, 0.5, 0.4],
  beside: [0.6, 0.5, 0.5, 0.45, 0.4],
  under: [0.55, 0.4, 0.35, 0.35, 0.2],
  cross: [0.82, 0.8, 0.6, 0.4, 0.2],
  inline: [0.75, 0.75, 0.6, 0.52, 0.4],
  count: [0.65, 0.6, 0.55, 0.4, 0.3],
  prose: [0.6, 0.58, 0.55, 0.3, 0.2],
  box: [0.9, 0.9, 0.7, 0.6, 0.4],
  option: [0.9, 0.8, 0.6, 0.4, 0.3],
  sum: [0.95, 0.95, 0.95, 0.95, 0.95],
  form: [0.85, 0.85, 0.85, 0.85, 0.85],
  place: [0.4, 0.4, 0.4, 0.4, 0.4],
  head: [0.8, 0.6, 0.3, 0.3, 0.2],
  closing: [0.85, 0.7, 0.4, 0.4, 0.2],
  end: [0.85, 0.65, 0.4, 0.3, 0.2],
};

/** The same of texts and names. */
const FREE: Readonly<Record<EvidenceKind, Shares>> = {
  ...TYPED,
  colon: [0.75, 0.7, 0.4, 0.3, 0.2],
  cell: [0.85, 0.8, 0.5, 0.35, 0.2],
  right: [0.55, 0.55, 0.52, 0.2, 0.1],
  below: [0.6, 0.6, 0.52, 0.2, 0.1],
  beside: [0.48, 0.4, 0.3, 0.2, 0.1],
  under: [0.5, 0.45, 0.2, 0.1, 0.1],
};

/** The share where a concept's rules found the value alone, in a schema that they were not made for. */
const BY_RULES: Readonly<Partial<Record<EvidenceKind, number>>> = {
  form: 0.85,
  sum: 0.95,
  prose: 0.9,
  colon: 0.55,
};
const BY_SYNONYM = 0.35;

/** The share where labels and rules agree. */
const AGREED: Readonly<Partial<Record<EvidenceKind, number>>> = {
  colon: 0.95, cell: 0.95, below: 0.88, right: 0.93, inline: 0.92, prose: 0.9, beside: 0.78, count: 0.6,
  under: 0.4, cross: 0.5,
}; // prettier-ignore

/** Texts that rules and labels agree on; right of a label without a mark, either may take a label. */
const AGREED_FREE = 0.85;
const AGREED_FREE_BESIDE = 0.6;

const AGREED_ELSE = 0.85;
const KNOWN_MAX = 0.99;

/** What the rules of a schema that they were made for did not take is less sure. */
const PASSED_OVER = 0.6;

/** The share of single values that were right, by how they were won; `raw` is how surely, 0..1. */
export function calibratedSingle({ origin, kind, isFree, isKnown }: Way, raw: number): number {
  const byLabels = (isFree ? FREE : TYPED)[kind][levelOf(raw)];
  if (origin === 'labels') return isKnown ? PASSED_OVER * byLabels : byLabels;
  if (isKnown) return Math.min(raw, KNOWN_MAX);
  if (origin === 'rules') return BY_RULES[kind] ?? BY_SYNONYM;
  const agreed = AGREED[kind] ?? AGREED_ELSE;
  const freely = kind === 'beside' ? AGREED_FREE_BESIDE : Math.min(agreed, AGREED_FREE);
  return Math.max(byLabels, isFree ? freely : agreed);
}

const levelOf = (raw: number): 0 | 1 | 2 | 3 | 4 => {
  const level = LEVELS.findIndex((least) => raw >= least);
  return level === 0 || level === 1 || level === 2 || level === 3 ? level : 4;
};

/** Every kind with the shares of its levels, for those who check them. */
export const CALIBRATION: readonly (readonly [EvidenceKind, Shares, Shares])[] = EVIDENCE_KINDS.map(
  (kind) => [kind, TYPED[kind], FREE[kind]],
);
