import { z } from 'zod';
import { canonicalJson } from '../kernel/canonicalJson.ts';
import type { JsonObject } from '../kernel/json.ts';
import { localArtifact } from './artifact.ts';
import { llmArtifact } from './prompts/llmArtifact.ts';

/** A pipeline whole: what to extract, how, and what was learned for it. */
const artifactFile = z.strictObject({
  format: z.literal('quire-artifact-1'),
  schema: z.record(z.string(), z.unknown()).transform((schema) => schema as JsonObject),
  mode: z.enum(['fast', 'standard', 'robust']),
  learned: z.union([localArtifact, llmArtifact]),
});
export type ArtifactFile = z.output<typeof artifactFile>;

/** The bytes of an artifact: the same learning gives the same bytes, so they are named by their digest. */
export const artifactBytes = (file: Omit<ArtifactFile, 'format'>): Uint8Array =>
  new TextEncoder().encode(canonicalJson({ format: 'quire-artifact-1', ...file }));

/** Throws ZodError or SyntaxError for bytes that are no artifact of this version. */
export const readArtifactFile = (bytes: Uint8Array): ArtifactFile =>
  artifactFile.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
