import type { EvidenceKind } from '../evidence.ts';
import type { Reading } from './values.ts';

/** A value that a document offers a field, and why. */
export interface Offer extends Reading {
  readonly kind: EvidenceKind;
  /** 0..1: how well the words beside it say the field. */
  readonly score: number;
}
