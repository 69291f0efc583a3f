import { seeded, shuffled } from '../seeded.ts';

/** Examples to learn from and examples to score by, by their places, in an order that the seed decides. */
export interface LlmSplit {
  readonly learn: readonly number[];
  readonly held: readonly number[];
}

/** Documents from which one step learns. */
export const MINIBATCH = 5;

/** Holds out a share of the examples: at least one, and at least one is left to learn from. */
export const llmSplit = (count: number, share: number, seed: number): LlmSplit => {
  const order = shuffled(
    Array.from({ length: count }, (_, place) => place),
    seeded(seed),
  );
  const held = Math.min(count - 1, Math.max(1, Math.round(share * count)));
  return { held: order.slice(0, held), learn: order.slice(held) };
};

/** Fewest metric calls with which so many held-out examples can show anything. */
export const fewestMetricCalls = (held: number): number => 3 * held + MINIBATCH;
