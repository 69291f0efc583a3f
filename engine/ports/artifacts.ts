import type { JsonObject } from '../kernel/json.ts';

/** F1, 0 to 1. */
type Pair = { baseline: number; best: number };

/** What an artifact is worth: F1 over leaves of documents that it did not learn from, 0..1. */
export type TrainingReport = {
  baseline_score: number;
  best_score: number;
  per_field: (Pair & { path: string })[];
  /** Of best_score, by bootstrap over documents. */
  confidence_interval: { level: number; low: number; high: number };
  /** On layouts left out of learning; null where all examples have one layout. */
  unseen_templates: Pair | null;
  validation: { kind: 'hold_out' | 'cross_validation'; documents: number };
  better: boolean;
};

/** From which chance on of being right a leaf is followed, and whether it may take a value of the rules away. */
type FollowedFrom = { from: number; may_refuse: boolean };

/** A part of a schema that something was learned of: in which documents it speaks, of known layouts and of others. */
type LearnedPart = { path: string; signature: string; known: boolean; unseen: boolean };

/** A single value. */
type LearnedLeaf = LearnedPart & {
  follows: { known: FollowedFrom; unseen: FollowedFrom };
  joint: ', ' | ' ' | '\n';
  labels: string[];
  /** Places of weights that are not zero, rising, and the weights. */
  places: number[];
  weights: number[];
};

/** What the local engine learned from examples: plain JSON, without any text of theirs but labels. */
export type LocalArtifact = {
  kind: 'local';
  engine_version: 'local-1' | 'local-2' | 'local-3';
  lexicon_version: string;
  schema_hash: string;
  seed: number;
  /** Digests of the examples. */
  examples: string[];
  /** Labels of each layout: hash and points from the left. */
  templates: { marks: [number, number][] }[];
  leaves: LearnedLeaf[];
  lists: (LearnedPart & { labels: string[] })[];
  rows: (LearnedPart & { headers: Record<string, string[]>; ends: string[] })[];
  /** Weights by which the chance of being right is told. */
  trust: number[];
  metrics: TrainingReport;
};

/** A document's text, and what is to be read in it, as a model is shown it. */
export interface LlmDemo {
  readonly text: string;
  readonly answer: JsonObject;
}

/** What of an artifact is shown to a model. */
export interface LearnedPrompt {
  readonly instruction: string;
  readonly demos: readonly LlmDemo[];
}
