import { inserting } from '../engine/apply/bulk.ts';
import { tenantOf, type ProjectedEvent } from '../engine/feed/event.ts';
import type { SqlTx } from '../engine/ports.ts';
import type { Row } from '../engine/table.ts';
import { unrecordedWork } from './usageEvents.schema.ts';

const burn = inserting(unrecordedWork, { firstStands: true });
type Burned = Row<typeof unrecordedWork>;

const burnsIn = (event: ProjectedEvent): readonly Burned[] => {
  if (event.type !== 'CreditsBurned' || event.data.delivered === undefined) return [];
  const { operation_id, operation, pages, free_pages, delivered, created_at } = event.data;
  const { status, duration_ms } = delivered;
  const tenant_id = tenantOf(event);
  return [
    { operation_id, operation, tenant_id, pages, free_pages, status, duration_ms, burned_at: created_at },
  ];
};

const completedIn = ({ type, data }: ProjectedEvent): readonly string[] => {
  if (type === 'ExtractionCompleted') return [data.extraction_id];
  return type === 'ConversionCompleted' ? [data.conversion_id] : [];
};

/** A burn opens a row, the usage event closes it: mostly both are in one batch, and nothing is written. */
export const followBurns = async (
  tx: SqlTx,
  schema: string,
  events: readonly ProjectedEvent[],
): Promise<void> => {
  const completed = new Set(events.flatMap(completedIn));
  const burns = events.flatMap(burnsIn);
  const open = burns.filter(({ operation_id }) => !completed.has(operation_id));
  for (const { operation_id } of burns) completed.delete(operation_id);
  await burn(tx, schema, open);
  if (completed.size > 0)
    await tx.query(`delete from ${schema}.unrecorded_work where operation_id = any($1::text[])`, [
      [...completed],
    ]);
};
