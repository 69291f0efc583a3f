import { accountOf, byType, type AuditedEventOf } from '../log/auditedEvent.ts';
import { noSums } from '../../../projections/engine/table.ts';
import { usageDays, usageDocuments } from '../../../projections/usage.ts';
import { keptRows, type ExpectedModel, type ExpectedSum } from './expectedRows.ts';

type Movement = AuditedEventOf<'CreditsBurned' | 'CreditsAdjusted'>;

/** In the place of a dimension that a movement does not have. */
const NONE = 'none';

const dimensionsOf = ({ type, stream, data }: Movement) => {
  const place = { day: data.created_at.slice(0, 10), tenant_id: accountOf(stream) ?? '' };
  if (type === 'CreditsAdjusted') {
    const words = { kind: 'admin_adjustment', operation: 'admin_adjustment', category: 'adjustment' };
    return { ...place, ...words, extraction_mode: NONE, billing_type: NONE, task_id: NONE };
  }
  const { operation, category, extraction_mode, billing_type, task_id } = data;
  const words = { kind: 'usage', operation, category, extraction_mode: extraction_mode ?? NONE };
  return { ...place, ...words, billing_type, task_id };
};

type Day = ExpectedSum<typeof usageDays>;

/** Consumption by day and dimensions, and by document. */
export const usageRows: ExpectedModel = {
  name: 'usage',
  tables: [usageDays, usageDocuments],
  start: (emit) => {
    const days = keptRows<typeof usageDays, Day>(usageDays, emit);
    const documents = keptRows<typeof usageDocuments, ExpectedSum<typeof usageDocuments>>(
      usageDocuments,
      emit,
    );
    const dayOf = (event: Movement): Day => {
      const dimensions = dimensionsOf(event);
      const fresh = () => ({ ...dimensions, ...noSums(usageDays.columns) });
      const day = days.at(JSON.stringify(Object.values(dimensions)), fresh);
      day.operations += 1n;
      return day;
    };
    const useDocument = ({ stream, position, data }: AuditedEventOf<'CreditsBurned'>): void => {
      const { document_id, task_id, pages, credits, created_at: last_used_at } = data;
      if (document_id === null) return;
      const tenant_id = accountOf(stream) ?? '';
      const before = documents.get(`${tenant_id} ${document_id}`) ?? noSums(usageDocuments.columns);
      documents.set(`${tenant_id} ${document_id}`, {
        tenant_id,
        document_id,
        task_id,
        last_used_at,
        last_position: position,
        operations: before.operations + 1n,
        pages: before.pages + BigInt(pages),
        credits: before.credits + BigInt(credits),
      });
    };
    const apply = byType({
      // A gift counts below zero: it is no consumption.
      CreditsAdjusted: (event) => void (dayOf(event).credits -= BigInt(event.data.credits)),
      CreditsBurned: (event) => {
        const [day, { data }] = [dayOf(event), event];
        day.pages += BigInt(data.pages);
        day.free_pages += BigInt(data.free_pages);
        day.credits += BigInt(data.credits);
        useDocument(event);
      },
    });
    const finish = (): void => {
      days.emitAll();
      documents.emitAll();
    };
    return { apply, finish };
  },
};
