import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { instant, tenantId } from '../kernel/units.ts';
import { recorder } from '../kernel/recorder.ts';
import { fieldScore, score } from '../trainingJob/events.ts';

/** What a job learned lies whole in object storage under its digest. Never changes, never goes away. */
const artifactPublished = event('ArtifactPublished', {
  artifact_id: z.string(),
  job_id: z.string(),
  tenant_id: tenantId,
  project_id: z.string(),
  task_id: z.string(),
  /** Of the stored bytes, which are named by it. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().min(1),
  schema_sha256: z.string(),
  baseline_score: score,
  best_score: score,
  per_field: z.array(fieldScore),
  published_at: instant,
});
export type ArtifactPublished = z.output<typeof artifactPublished>;

export const artifactEvent = z.discriminatedUnion('type', [artifactPublished]);
export type ArtifactEvent = z.output<typeof artifactEvent>;

export const artifactStream = (artifactId: string): string => `artifact-${artifactId}`;

/** An artifact is published once; a second publication does nothing. */
export const artifact = recorder<ArtifactEvent>(() => true);

/** Where the bytes of artifacts lie. */
const ARTIFACTS_PREFIX = 'artifacts/';
export const artifactKeyOf = (digest: string): string => `${ARTIFACTS_PREFIX}${digest}`;

/** The reference that callers get; opaque to them. */
export const artifactUriOf = (artifactId: string): string => `quire://artifacts/${artifactId}`;
