import type { FieldScore } from '../learning/scoring/fieldScore.ts';

/** What became of training. */
export type TrainingOutcome =
  | {
      readonly kind: 'trained';
      /** What was learned: these bytes are stored and given back as they are. */
      readonly artifact: Uint8Array;
      /** 0 to 1, on the examples that were held out. */
      readonly baseline_score: number;
      readonly best_score: number;
      readonly per_field: readonly FieldScore[];
    }
  | {
      readonly kind: 'failed';
      /** A code of the interface. */
      readonly code: string;
      /** A sentence for the caller: never what a document says. */
      readonly detail: string;
      /** True: another attempt would fail in the same way. */
      readonly lasting: boolean;
    };
