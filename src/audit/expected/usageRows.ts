import { accountOf, type AuditedEvent, type AuditedEventOf } from '../log/auditedEvent.ts';
import { noSums } from '../../../projections/engine/table.ts';
import { usageDays, usageDocuments } from '../../../projections/usage/usage.schema.ts';
import type { ExpectedModel, ExpectedSum } from './expectedRows.ts';

type Movement = AuditedEventOf<'CreditsBurned' | 'CreditsAdjusted'>;

/** In the place of a dimension that a movement does not have. */
const NONE = 'none';

const dimensionsOf = ({ type, stream, data }: Movement) => {
  const place = { day: data.created_at.slice(0, 10), tenant_id: accountOf(stream) ?? '' };
  return type === 'CreditsBurned'
    ? {
        ...place,
        kind: 'usage',
        operation: data.operation,
        category: data.category,
        extraction_mode: data.extraction_mode ?? NONE,
        billing_type: data.billing_type,
        task_id: data.task_id,
      }
    : {
        ...place,
        kind: 'admin_adjustment',
        operation: 'admin_adjustment',
        category: 'adjustment',
        extraction_mode: NONE,
        billing_type: NONE,
        task_id: NONE,
      };
};

type Day = ExpectedSum<typeof usageDays>;
type DocumentUse = ExpectedSum<typeof usageDocuments>;

/** A gift counts below zero: it is no consumption. */
const addTo = (sums: Day, { type, data }: Movement): void => {
  sums.operations += 1n;
  if (type === 'CreditsAdjusted') {
    sums.credits -= BigInt(data.credits);
    return;
  }
  sums.pages += BigInt(data.pages);
  sums.free_pages += BigInt(data.free_pages);
  sums.credits += BigInt(data.credits);
};

const useDocument = (documents: Map<string, DocumentUse>, event: AuditedEvent): void => {
  if (event.type !== 'CreditsBurned' || event.data.document_id === null) return;
  const { document_id, task_id, pages, credits, created_at } = event.data;
  const tenant_id = accountOf(event.stream) ?? '';
  const key = `${tenant_id} ${document_id}`;
  const before = documents.get(key);
  documents.set(key, {
    tenant_id,
    document_id,
    task_id,
    operations: (before?.operations ?? 0n) + 1n,
    pages: (before?.pages ?? 0n) + BigInt(pages),
    credits: (before?.credits ?? 0n) + BigInt(credits),
    last_used_at: created_at,
    last_position: event.position,
  });
};

/** Consumption by day and dimensions, and by document. */
export const usageRows: ExpectedModel = {
  name: 'usage',
  tables: [usageDays, usageDocuments],
  start: () => {
    const days = new Map<string, Day>();
    const documents = new Map<string, DocumentUse>();
    return {
      apply: (event) => {
        if (event.type !== 'CreditsBurned' && event.type !== 'CreditsAdjusted') return;
        const dimensions = dimensionsOf(event);
        const key = JSON.stringify(Object.values(dimensions));
        const day = days.get(key) ?? { ...dimensions, ...noSums(usageDays.columns) };
        days.set(key, day);
        addTo(day, event);
        useDocument(documents, event);
      },
      finish: (emit) => {
        for (const day of days.values()) emit(usageDays, day);
        for (const use of documents.values()) emit(usageDocuments, use);
      },
    };
  },
};
