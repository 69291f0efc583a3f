import type { BulkRow } from '../engine/apply/bulk.ts';
import { bulk } from '../engine/apply/bulk.ts';
import type { ProjectedEvent } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { followBurns } from './unrecordedWork.ts';
import { usageEventsDdl, usageEventsTables } from './usageEvents.schema.ts';

const requested = bulk({
  id: 'text',
  kind: 'text',
  tenant_id: 'text',
  position: 'int8',
  project_id: 'text',
  task_id: 'text',
  document_id: 'text',
  document_sha256: 'text',
  mode: 'text',
  billing_type: 'text',
  model: 'text',
  ocr_model: 'text',
  pages: 'int8',
  hold_id: 'text',
  api_key_id: 'text',
  requested_at: 'text',
});
const finished = bulk({
  id: 'text',
  state: 'text',
  pages: 'int8',
  free_pages: 'int8',
  problem_code: 'text',
  duration_ms: 'int8',
  finished_at: 'text',
});

type Requested = Extract<ProjectedEvent, { type: 'ExtractionRequested' | 'ConversionRequested' }>;

/** Written out, not spread: there is one for every operation. */
const requestOf = ({ data, position }: Requested): BulkRow<typeof requested> => ({
  id: idOf(data),
  kind: 'extraction_id' in data ? 'extraction' : 'conversion',
  tenant_id: data.tenant_id,
  position,
  project_id: data.project_id,
  task_id: data.task_id,
  document_id: data.document_id,
  document_sha256: data.document_sha256,
  mode: data.mode,
  billing_type: data.billing_type,
  model: data.model,
  ocr_model: data.ocr_model,
  pages: data.pages,
  hold_id: data.hold_id,
  api_key_id: data.api_key_id,
  requested_at: data.requested_at,
});

const requests = (event: ProjectedEvent): readonly BulkRow<typeof requested>[] =>
  event.type === 'ExtractionRequested' || event.type === 'ConversionRequested' ? [requestOf(event)] : [];

type Finish = BulkRow<typeof finished> & { readonly id: string };
type Completed = Extract<ProjectedEvent, { type: 'ExtractionCompleted' | 'ConversionCompleted' }>;
type Failed = Extract<ProjectedEvent, { type: 'ExtractionFailed' | 'ConversionFailed' }>;

const idOf = (data: { extraction_id: string } | { conversion_id: string }): string =>
  'extraction_id' in data ? data.extraction_id : data.conversion_id;

const completion = ({ data }: Completed): Finish => ({
  id: idOf(data),
  state: data.status,
  pages: data.pages,
  free_pages: data.free_pages,
  problem_code: null,
  duration_ms: data.duration_ms,
  finished_at: data.completed_at,
});

const failure = ({ data }: Failed): Finish => ({
  id: idOf(data),
  state: 'failed',
  pages: null,
  free_pages: null,
  problem_code: data.code,
  duration_ms: null,
  finished_at: data.failed_at,
});

const outcomes = (event: ProjectedEvent): readonly Finish[] => {
  if (event.type === 'ExtractionCompleted' || event.type === 'ConversionCompleted')
    return [completion(event)];
  if (event.type === 'ExtractionFailed' || event.type === 'ConversionFailed') return [failure(event)];
  return [];
};

const REQUEST = (schema: string) => `
  insert into ${schema}.usage_events (${requested.names}, state)
  select ${requested.names}, 'running' from ${requested.source()}`;

const FINISH = (schema: string) => `
  update ${schema}.usage_events e
  set state = u.state, pages = coalesce(u.pages, e.pages), free_pages = u.free_pages,
    problem_code = u.problem_code, duration_ms = u.duration_ms, finished_at = u.finished_at
  from ${finished.source()} where e.id = u.id`;

/** Extractions and conversions, running and done. */
export const usageEventsProjector: Projector = {
  name: 'usage_events',
  version: 3,
  eventTypes: [
    'CreditsBurned',
    'ExtractionRequested',
    'ExtractionCompleted',
    'ExtractionFailed',
    'ConversionRequested',
    'ConversionCompleted',
    'ConversionFailed',
  ],
  tables: usageEventsTables,
  ddl: usageEventsDdl,
  apply: async (tx, { schema, events }) => {
    const begun = events.flatMap(requests);
    // The last outcome of each: one statement must not meet a row twice.
    const ended = [...new Map(events.flatMap(outcomes).map((row) => [row.id, row])).values()];
    if (begun.length > 0) await tx.query(REQUEST(schema), requested.values(begun));
    if (ended.length > 0) await tx.query(FINISH(schema), finished.values(ended));
    await followBurns(tx, schema, events);
  },
};
