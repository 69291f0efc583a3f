import type { BulkRow } from '../engine/apply/bulk.ts';
import { bulk, inserting } from '../engine/apply/bulk.ts';
import type { ProjectedEvent } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { pick, type Row } from '../engine/table.ts';
import { followBurns } from './unrecordedWork.ts';
import { unrecordedWork, usageEvents } from './usageEvents.schema.ts';

const request = inserting(usageEvents, { firstStands: true });
/** Pages that are null stay as they were. */
const finished = bulk({
  ...pick(usageEvents.columns, 'id', 'state', 'free_pages', 'problem_code', 'duration_ms', 'finished_at'),
  pages: 'int8?',
});

/** A row that what follows in the same batch may still change. */
type UsageEventRow = { -readonly [Name in keyof Row<typeof usageEvents>]: Row<typeof usageEvents>[Name] };
type Requested = Extract<ProjectedEvent, { type: 'ExtractionRequested' | 'ConversionRequested' }>;

/** Written out, not spread: there is one for every operation. */
const requestOf = ({ data, position }: Requested): UsageEventRow => ({
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
  free_pages: null,
  hold_id: data.hold_id,
  api_key_id: data.api_key_id,
  state: 'running',
  problem_code: null,
  duration_ms: null,
  requested_at: data.requested_at,
  finished_at: null,
});

const settled = bulk(pick(usageEvents.columns, 'id', 'billing_type', 'hold_id'));

interface Begun {
  readonly requests: ReadonlyMap<string, UsageEventRow>;
  /** What the burn says of requests of earlier batches. */
  readonly burns: readonly BulkRow<typeof settled>[];
}

/**
 * The billing type and the hold are those of the burn: a request whose own key was never used, or whose hold
 * ran out, was held anew after its event was written.
 */
const begunIn = (events: readonly ProjectedEvent[]): Begun => {
  const requests = new Map<string, UsageEventRow>();
  const burns = new Map<string, BulkRow<typeof settled>>();
  for (const event of events) {
    if (event.type === 'ExtractionRequested' || event.type === 'ConversionRequested') {
      const id = idOf(event.data);
      // What the log says of work before it was asked for changes nothing, wherever a batch begins.
      burns.delete(id);
      if (!requests.has(id)) requests.set(id, requestOf(event));
    }
    if (event.type !== 'CreditsBurned' || event.data.hold_id === null) continue;
    const { operation_id: id, billing_type, hold_id } = event.data;
    const request = requests.get(id);
    if (request === undefined) burns.set(id, { id, billing_type, hold_id });
    else {
      request.billing_type = billing_type;
      request.hold_id = hold_id;
    }
  }
  return { requests, burns: [...burns.values()] };
};

type Finish = BulkRow<typeof finished>;
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

/** Ends the requests of the batch themselves: no row is written twice. What is left ends those of earlier batches. */
const endedLater = (
  events: readonly ProjectedEvent[],
  requests: ReadonlyMap<string, UsageEventRow>,
): readonly Finish[] => {
  // The last outcome of each: one statement must not meet a row twice.
  const later = new Map<string, Finish>();
  for (const event of events)
    for (const end of outcomes(event)) {
      const request = requests.get(end.id);
      if (request === undefined || event.position < request.position) later.set(end.id, end);
      else Object.assign(request, end, { pages: end.pages ?? request.pages });
    }
  return [...later.values()];
};

const SETTLE = (schema: string) => `
  update ${schema}.usage_events e set billing_type = u.billing_type, hold_id = u.hold_id
  from ${settled.source()}
  where e.id = u.id and (e.billing_type, e.hold_id) is distinct from (u.billing_type, u.hold_id)`;

const FINISH = (schema: string) => `
  update ${schema}.usage_events e
  set state = u.state, pages = coalesce(u.pages, e.pages), free_pages = u.free_pages,
    problem_code = u.problem_code, duration_ms = u.duration_ms, finished_at = u.finished_at
  from ${finished.source()} where e.id = u.id`;

/** Extractions and conversions, running and done. */
export const usageEventsProjector: Projector = {
  name: 'usage_events',
  version: 5,
  eventTypes: [
    'CreditsBurned',
    'ExtractionRequested',
    'ExtractionCompleted',
    'ExtractionFailed',
    'ConversionRequested',
    'ConversionCompleted',
    'ConversionFailed',
  ],
  tables: [usageEvents, unrecordedWork],
  apply: async (tx, { schema, events }) => {
    const { requests, burns } = begunIn(events);
    const ended = endedLater(events, requests);
    // Before the requests of this batch: what comes before a request changes nothing of it.
    if (burns.length > 0) await tx.query(SETTLE(schema), settled.values(burns));
    if (ended.length > 0) await tx.query(FINISH(schema), finished.values(ended));
    await request(tx, schema, [...requests.values()]);
    await followBurns(tx, schema, events);
  },
};
