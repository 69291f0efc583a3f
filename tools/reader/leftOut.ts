import { existsSync, readFileSync } from 'node:fs';
import { FEATURES } from '../../engine/reader/features.ts';
import { scorerOf, type Scorer } from '../../engine/reader/scorer.ts';
import type { Trees } from '../../engine/reader/trees.ts';
import shipped from '../../engine/reader/weights.json' with { type: 'json' };
import { KINDS } from './generated.ts';

/** Kinds of generated documents are left out by turns, in so many. */
export const FOLDS = 3;
/** Trees that were grown without the kinds of each turn; running never needs them. */
export const FOLDS_FILE = 'tools/reader/folds.json';

/** The turn that a kind is left out in. */
export const foldOf = (kind: string): number => KINDS.indexOf(kind) % FOLDS;

/** For each kind a scorer whose trees saw none of it; undefined where the checkout has none that fit. */
export function scorersWithout(): ((kind: string) => Scorer) | undefined {
  if (!existsSync(FOLDS_FILE)) return undefined;
  const { chance, levels } = shipped;
  const folds = JSON.parse(readFileSync(FOLDS_FILE, 'utf8')) as readonly Trees[];
  const scorers = folds.map((trees) => scorerOf({ features: FEATURES, trees, chance, levels }));
  return (kind) => {
    const scorer = scorers[foldOf(kind)];
    if (scorer === undefined) throw new RangeError(`${FOLDS_FILE} has not the kinds of today.`);
    return scorer;
  };
}
