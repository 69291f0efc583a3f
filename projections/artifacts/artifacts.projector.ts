import { inserting, jsonText, updating } from '../engine/apply/bulk.ts';
import type { ProjectedEventOf } from '../engine/feed/event.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { artifacts } from './artifacts.schema.ts';

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
