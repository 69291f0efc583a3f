import { z } from 'zod';
import { canonicalJson } from '../../kernel/canonicalJson.ts';
import type { JsonObject } from '../../kernel/json.ts';

/** A share of right fields, 0 to 1, on the examples that were held out. */
const score = z.number().min(0).max(1);

/** How one field fared before and after training. */
const fieldScore = z.strictObject({ path: z.string(), baseline: score, best: score });

/** Raised when the same artifact would be shown to a model in another way. */
export const LLM_ENGINE_VERSION = 'llm-1';
/** The prompt that an artifact was learned for. */
export const LLM_PROMPT_VERSION = 'extraction.v1';

/** Most worked examples in an artifact, and the characters of a document in one. */
export const DEMOS_MAX = 4;
export const DEMO_CHARACTERS_MAX = 2_000;
export const INSTRUCTION_CHARACTERS_MAX = 4_000;

const jsonObject = z.record(z.string(), z.json()).transform((value) => value as JsonObject);

/** A whole document, short enough to be shown, and what is to be read in it. */
const demo = z.strictObject({ text: z.string().max(DEMO_CHARACTERS_MAX), answer: jsonObject });

/** What a model learned from examples: plain JSON. Demos hold the text of documents. */
export const llmArtifact = z.strictObject({
  kind: z.literal('llm'),
  engine_version: z.literal(LLM_ENGINE_VERSION),
  prompt_version: z.literal(LLM_PROMPT_VERSION),
  schema_hash: z.string(),
  /** `<provider>/<model>` that it was learned with. */
  model: z.string(),
  /** Empty: the prompt has no instruction of its own. */
  instruction: z.string().max(INSTRUCTION_CHARACTERS_MAX),
  demos: z.array(demo).max(DEMOS_MAX),
  metrics: z.strictObject({
    /** F1 over the leaves of the documents that were held out, 0 to 1. */
    baseline_score: score,
    best_score: score,
    per_field: z.array(fieldScore),
    held_out: z.int().min(1),
    better: z.boolean(),
  }),
  seed: z.int(),
  budget: z.strictObject({ max_metric_calls: z.int().min(0), metric_calls: z.int().min(0) }),
});
export type LlmArtifact = z.output<typeof llmArtifact>;

/** Reads an artifact; throws a ZodError that names what does not fit. */
export const readLlmArtifact = (value: unknown): LlmArtifact => llmArtifact.parse(value);

/** Canonical text of an artifact: equal artifacts have equal bytes. */
export const llmArtifactText = (artifact: LlmArtifact): string => canonicalJson(artifact);
