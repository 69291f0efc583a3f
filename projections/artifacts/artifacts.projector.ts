import type { BulkRow } from '../engine/apply/bulk.ts';
import { bulk, jsonText } from '../engine/apply/bulk.ts';
import type { ProjectedEventOf } from '../engine/feed/event.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { artifactsDdl, artifactsTables } from './artifacts.schema.ts';

const published = bulk({
  artifact_id: 'text',
  job_id: 'text',
  tenant_id: 'text',
  position: 'int8',
  project_id: 'text',
  task_id: 'text',
  sha256: 'text',
  bytes: 'int8',
  schema_sha256: 'text',
  scores: 'jsonb',
  published_at: 'text',
});
const usable = bulk({ artifact_id: 'text' });

const PUBLISH = (schema: string) => `
  insert into ${schema}.artifacts (${published.names}, is_usable)
  select ${published.names}, false from ${published.source()}
  on conflict (artifact_id) do nothing`;

const USE = (schema: string) => `
  update ${schema}.artifacts a set is_usable = true
  from ${usable.source()} where a.artifact_id = u.artifact_id`;

const rowOf = ({ data, position }: ProjectedEventOf<'ArtifactPublished'>): BulkRow<typeof published> => {
  const { baseline_score, best_score, per_field } = data;
  return { ...data, position, scores: jsonText({ baseline_score, best_score, per_field }) };
};

/** Artifacts: what was learned, and how well it does. */
export const artifactsProjector: Projector = {
  name: 'artifacts',
  version: 1,
  eventTypes: ['ArtifactPublished', 'TrainingJobSucceeded'],
  tables: artifactsTables,
  ddl: artifactsDdl,
  apply: async (tx, { schema, events }) => {
    const rows = only(events, 'ArtifactPublished').map(rowOf);
    const successes = only(events, 'TrainingJobSucceeded').map(({ data }) => data);
    if (rows.length > 0) await tx.query(PUBLISH(schema), published.values(rows));
    if (successes.length > 0) await tx.query(USE(schema), usable.values(successes));
  },
};
