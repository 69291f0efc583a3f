import { digestText } from '../queue/digestText.ts';
import { suffixOf } from '../queue/identity.ts';

/** What a caller gave a request to be known by. `generation` counts reuses after the time of replays. */
interface JobIdentity {
  readonly tenant_id: string;
  readonly idempotency_key: string;
  readonly generation: number;
}

/** The same request always names the same job, so whatever died between two steps is found again. */
export const jobIdFor = ({ tenant_id, idempotency_key, generation }: JobIdentity): string =>
  `job_${digestText(['training job', tenant_id, idempotency_key, String(generation)].join('\u001f'))}`;

/** The burn of a job that succeeded. */
export const usageIdOfJob = (jobId: string): string => `use_${suffixOf(jobId)}`;
/** A job makes one artifact at most. */
export const artifactIdOfJob = (jobId: string): string => `art_${suffixOf(jobId)}`;
/** The job whose artifact it is. */
export const jobIdOfArtifact = (artifactId: string): string => artifactId.replace(/^art_/, 'job_');
