import type { EvidenceKind } from '../finding.ts';
import type { Segment } from '../places/layout.ts';

/** A range of a segment's text. */
export interface Spot {
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;
}

/** A label with the place where its value stands. */
export interface Pair {
  readonly label: string;
  readonly at: Segment;
  /** The heading that the label stands under. */
  readonly context: string;
  readonly value: Spot;
  readonly kind: EvidenceKind;
}
