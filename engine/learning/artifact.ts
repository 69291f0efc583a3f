import { z } from 'zod';
import { canonicalJson, sha256 } from '../kernel/canonicalJson.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { LocalArtifact } from '../ports/artifacts.ts';
import type { Field } from '../extraction/fields/fields.ts';
import { NEVER } from './weights/sides.ts';
import { FEATURES } from './weights/hashing.ts';
import { PRIOR_TRUST } from './weights/trust.ts';

/** Raised when features or weights mean something else than before. */
export const ENGINE_VERSION = 'local-3';
/** Artifacts of these versions are read: what they lack has a default. */
const READ_VERSIONS = ['local-1', 'local-2', ENGINE_VERSION] as const;

const path = z.string().max(1_000);
const label = z.string().max(400);
const score = z.number().min(0).max(1);

/** In which documents a learned part speaks: of layouts that the examples had, and of others. */
const gates = { known: z.boolean(), unseen: z.boolean() };

/** From which chance on of being right a leaf is followed, and whether it may take a value of the rules away. */
const side = z.strictObject({ from: z.number().min(0).max(NEVER), may_refuse: z.boolean() });
/** How leaves of artifacts are followed that were learned before chances were told. */
const OLD_SIDE = { from: 0.7, may_refuse: false };

const leaf = z
  .strictObject({
    path,
    signature: z.string().length(16),
    ...gates,
    /** Since `local-2`. */
    follows: z.strictObject({ known: side, unseen: side }).default({ known: OLD_SIDE, unseen: OLD_SIDE }),
    joint: z.enum([', ', ' ', '\n']),
    labels: z.array(label).max(12),
    /** Places of weights that are not zero, rising, and the weights. */
    places: z.array(
      z
        .int()
        .min(0)
        .max(FEATURES - 1),
    ),
    weights: z.array(z.number()),
  })
  .refine(({ places, weights }) => places.length === weights.length, 'as many weights as places');

const list = z.strictObject({
  path,
  signature: z.string().length(16),
  ...gates,
  labels: z.array(label).max(6),
});

const rows = z.strictObject({
  path,
  signature: z.string().length(16),
  ...gates,
  headers: z.record(z.string(), z.array(label).max(4)),
  ends: z.array(label).max(8),
});

const pair = z.strictObject({ baseline: score, best: score });

/** What an artifact is worth: F1 over leaves of documents that it did not learn from, 0..1. */
export const trainingReport = z.strictObject({
  baseline_score: score,
  best_score: score,
  per_field: z.array(pair.extend({ path })),
  /** Of best_score, by bootstrap over documents. */
  confidence_interval: z.strictObject({ level: score, low: score, high: score }),
  /** On layouts left out of learning; null where all examples have one layout. */
  unseen_templates: pair.nullable(),
  validation: z.strictObject({
    kind: z.enum(['hold_out', 'cross_validation']),
    documents: z.int().min(1),
  }),
  better: z.boolean(),
});

/** What the local engine learned from examples: plain JSON, without any text of theirs but labels. */
export const localArtifact = z.strictObject({
  kind: z.literal('local'),
  engine_version: z.enum(READ_VERSIONS),
  lexicon_version: z.string(),
  schema_hash: z.string(),
  seed: z.int(),
  /** Digests of the examples. */
  examples: z.array(z.string()),
  /** Labels of each layout: hash and points from the left. */
  templates: z.array(z.strictObject({ marks: z.array(z.tuple([z.int(), z.number()])).max(60) })),
  leaves: z.array(leaf),
  lists: z.array(list),
  rows: z.array(rows),
  /** Weights by which the chance of being right is told, since `local-2`. */
  trust: z
    .array(z.number())
    .length(PRIOR_TRUST.length)
    .default([...PRIOR_TRUST]),
  metrics: trainingReport,
});

/** Reads an artifact; throws a ZodError that names what does not fit. */
export const readArtifact = (value: unknown): LocalArtifact => localArtifact.parse(value);

/** Canonical text of an artifact: equal artifacts have equal bytes. */
export const artifactText = (artifact: LocalArtifact): string => canonicalJson(artifact);

/** Digest of a schema, whatever the order of its members. */
export const schemaHash = (schema: JsonObject): string => sha256(canonicalJson(schema));

/** What a field was when it was learned: a changed field is left to the rules. */
export function signatureOf(fields: readonly Field[]): string {
  const told = fields.map(({ pointer, kind, type, withTime, choices, phrases }): Json => ({
    pointer,
    kind,
    type,
    withTime,
    choices: [...choices],
    phrases: phrases.map((words) => words.join(' ')),
  }));
  return sha256(canonicalJson(told)).slice(0, 16);
}
