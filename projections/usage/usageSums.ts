import type { ProjectedEvent, ProjectedEventOf } from '../engine/feed/event.ts';
import { tenantOf } from '../engine/feed/event.ts';
import type { Sum } from '../engine/table.ts';
import type { usageDays, usageDocuments } from './usage.schema.ts';

/** Key of a dimension that a movement does not have. */
export const NONE = 'none';

type DaySum = Sum<typeof usageDays>;
type UsageDocument = Sum<typeof usageDocuments>;
type Burned = ProjectedEventOf<'CreditsBurned'>;
type Adjusted = ProjectedEventOf<'CreditsAdjusted'>;

/** Written out, not spread: in sparse trade there is one for nearly every burn. */
const dayOf = (event: Burned | Adjusted): DaySum => {
  const { data } = event;
  const isUsage = 'operation' in data;
  return {
    day: data.created_at.slice(0, 10),
    tenant_id: tenantOf(event),
    kind: isUsage ? 'usage' : 'admin_adjustment',
    operation: isUsage ? data.operation : 'admin_adjustment',
    category: isUsage ? data.category : 'adjustment',
    extraction_mode: isUsage ? (data.extraction_mode ?? NONE) : NONE,
    billing_type: isUsage ? data.billing_type : NONE,
    task_id: isUsage ? data.task_id : NONE,
    operations: 0,
    pages: 0,
    free_pages: 0,
    credits: 0,
  };
};

const keyOfDay = (event: Burned | Adjusted): string => {
  const { data } = event;
  const place = `${event.stream} ${data.created_at.slice(0, 10)}`;
  if (!('operation' in data)) return place;
  const { operation, category, extraction_mode, billing_type, task_id } = data;
  return `${place} ${operation} ${category} ${extraction_mode ?? ''} ${billing_type} ${task_id}`;
};

const isMovement = (event: ProjectedEvent): event is Burned | Adjusted =>
  event.type === 'CreditsBurned' || event.type === 'CreditsAdjusted';

/** Sums of a batch by day and dimensions. */
export const daySums = (events: readonly ProjectedEvent[]): readonly DaySum[] => {
  const days = new Map<string, DaySum>();
  for (const event of events.filter(isMovement)) {
    const key = keyOfDay(event);
    const day = days.get(key) ?? dayOf(event);
    days.set(key, day);
    if (event.type === 'CreditsAdjusted') {
      day.operations += 1;
      day.credits -= event.data.credits;
      continue;
    }
    const { pages, free_pages, credits } = event.data;
    day.operations += 1;
    day.pages += pages;
    day.free_pages += free_pages;
    day.credits += credits;
  }
  return [...days.values()];
};

/** Sums of a batch by document. */
export const documentSums = (events: readonly ProjectedEvent[]): readonly UsageDocument[] => {
  const documents = new Map<string, UsageDocument>();
  for (const event of events) {
    if (event.type !== 'CreditsBurned') continue;
    const { document_id, task_id, pages, credits, created_at } = event.data;
    if (document_id === null) continue;
    const tenant_id = tenantOf(event);
    const key = `${tenant_id} ${document_id}`;
    const before = documents.get(key);
    documents.set(key, {
      tenant_id,
      document_id,
      task_id,
      operations: (before?.operations ?? 0) + 1,
      pages: (before?.pages ?? 0) + pages,
      credits: (before?.credits ?? 0) + credits,
      last_used_at: created_at,
      last_position: event.position,
    });
  }
  return [...documents.values()];
};
