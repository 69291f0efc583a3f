import { signatureOf } from '../artifact.ts';
import type { LocalArtifact } from '../../ports/artifacts.ts';
import { isSpeaking, type Gate, type Side } from './sides.ts';
import { PRIOR } from './regression.ts';
import type { Model } from '../rounds.ts';
import type { Learned, Target } from '../targets.ts';

/** Weights that all leaves together keep, and one leaf at most: the largest. */
const WEIGHTS_MAX = 40_000;
const LEAF_WEIGHTS_MAX = 2_000;
/** Smaller weights decide nothing. */
const WEIGHT_MIN = 0.02;

type Parts = Pick<LocalArtifact, 'leaves' | 'lists' | 'rows'>;

/** The learned targets as an artifact keeps them. */
export function partsOf(model: Model, targets: readonly Target[], gates: ReadonlyMap<string, Gate>): Parts {
  const most = Math.min(LEAF_WEIGHTS_MAX, Math.floor(WEIGHTS_MAX / Math.max(1, model.learned.size)));
  const parts: Parts = { leaves: [], lists: [], rows: [] };
  for (const { pointer: path, fields } of targets) {
    const learned = model.learned.get(path);
    const gate = gates.get(path);
    if (learned === undefined || gate === undefined) continue;
    pack(learned, { path, signature: signatureOf(fields), gate }, { parts, most });
  }
  return parts;
}

interface Packed {
  readonly path: string;
  readonly signature: string;
  readonly gate: Gate;
}

function pack(
  learned: Learned,
  { gate, ...told }: Packed,
  { parts, most }: { readonly parts: Parts; readonly most: number },
): void {
  const head = { ...told, known: isSpeaking(gate.known), unseen: isSpeaking(gate.unseen) };
  switch (learned.kind) {
    case 'leaf': {
      const { labels, joint, weights } = learned.model;
      const follows = { known: sideOf(gate.known), unseen: sideOf(gate.unseen) };
      parts.leaves.push({ ...head, follows, joint, labels: [...labels], ...sparse(weights, most) });
      return;
    }
    case 'list':
      parts.lists.push({ ...head, labels: [...learned.model] });
      return;
    case 'rows': {
      const headers = [...learned.model.headers].map(([pointer, texts]) => [pointer, [...texts]]);
      parts.rows.push({
        ...head,
        headers: Object.fromEntries(headers) as Record<string, string[]>,
        ends: [...learned.model.ends],
      });
    }
  }
}

const sideOf = ({ from, mayRefuse }: Side): { from: number; may_refuse: boolean } => ({
  from,
  may_refuse: mayRefuse,
});

/** The largest weights, in thousandths; those of the prior are always among them. */
function sparse(weights: Float64Array, most: number): { places: number[]; weights: number[] } {
  const large: (readonly [place: number, weight: number])[] = [];
  for (const [place, exact] of weights.entries()) {
    const weight = Math.round(exact * 1_000) / 1_000;
    if (Math.abs(weight) >= WEIGHT_MIN || PRIOR.has(place)) large.push([place, weight]);
  }
  const rank = ([place, weight]: readonly [number, number]): number =>
    PRIOR.has(place) ? Number.POSITIVE_INFINITY : Math.abs(weight);
  const kept = large
    .sort((a, b) => compared(rank(b), rank(a)) || a[0] - b[0])
    .slice(0, most)
    .sort((a, b) => a[0] - b[0]);
  return { places: kept.map(([place]) => place), weights: kept.map(([, weight]) => weight) };
}

const compared = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);
