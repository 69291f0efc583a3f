import type { EvidenceKind } from '../evidence.ts';
import type { Reading } from './values.ts';

/** A value that a document offers a field, and why. */
export interface Offer extends Reading {
  readonly kind: EvidenceKind;
  /** 0..1: how well the words beside it say the field. */
  readonly score: number;
  /** The same words name another value as well. */
  readonly isDoubtful: boolean;
}

/** An offer before it is known whether another is as good. */
export type Draft = Omit<Offer, 'isDoubtful'>;
