import { type Projector, table, textOf } from './engine/table.ts';
import { inserting, jsonText, updating } from './engine/bulk.ts';
import { only, type ProjectedEventOf } from './engine/ports.ts';
import { type Page, paging } from './engine/query.ts';
import { sortBy, sortsBy } from './engine/sorts.ts';

/** Published artifacts. `is_usable`: their job has succeeded. */
export const artifacts = table({
  name: 'artifacts',
  key: ['artifact_id'],
  columns: {
    artifact_id: 'sorted',
    job_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    project_id: 'sorted',
    task_id: 'sorted',
    sha256: 'text',
    bytes: 'int8',
    schema_sha256: 'text',
    scores: 'jsonb',
    is_usable: 'boolean',
    published_at: 'text',
  },
  indexes: ['(tenant_id, position desc)'],
});

const publish = inserting(artifacts, { firstStands: true });
const use = updating(artifacts, 'artifact_id', 'is_usable');

const rowOf = ({ data, position }: ProjectedEventOf<'ArtifactPublished'>) => {
  const { baseline_score, best_score, per_field } = data;
  return { ...data, position, scores: jsonText({ baseline_score, best_score, per_field }), is_usable: false };
};

/** Artifacts: what was learned, and how well it does. */
export const artifactsProjector: Projector = {
  name: 'artifacts',
  version: 1,
  eventTypes: ['ArtifactPublished', 'TrainingJobSucceeded'],
  tables: [artifacts],
  apply: async (tx, { schema, events }) => {
    const succeeded = only(events, 'TrainingJobSucceeded');
    await publish(tx, schema, only(events, 'ArtifactPublished').map(rowOf));
    await use(
      tx,
      schema,
      succeeded.map(({ data }) => ({ artifact_id: data.artifact_id, is_usable: true })),
    );
  },
};

interface ArtifactsQuery extends Page {
  readonly tenant_id: string;
  readonly project_id?: string | undefined;
  readonly task_id?: string | undefined;
}

const CHOSEN = `from read.artifacts
  where tenant_id = $1 and is_usable
    and ($2::text is null or project_id = $2) and ($3::text is null or task_id = $3)`;

/** IDs of a tenant's artifacts that may be used, newest first, and how many there are in all. */
export const artifactsOfTenant = paging(
  {
    name: 'artifacts',
    columns: 'artifact_id',
    chosen: CHOSEN,
    sorts: {
      ...sortsBy(artifacts.columns, 'artifact_id', 'job_id', 'project_id', 'task_id', 'bytes'),
      created_at: sortBy(artifacts.columns, 'published_at'),
    },
    searched: { columns: ['artifact_id', 'job_id', 'project_id', 'task_id'] },
  },
  ({ tenant_id, project_id, task_id }: ArtifactsQuery) => [tenant_id, project_id ?? null, task_id ?? null],
  (row) => textOf(row, 'artifact_id'),
);
