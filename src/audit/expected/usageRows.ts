import { accountOf, type AuditedEvent, type AuditedEventOf } from '../log/auditedEvent.ts';
import type { ExpectedModel } from './expectedRows.ts';

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

interface Sums {
  operations: bigint;
  pages: bigint;
  free_pages: bigint;
  credits: bigint;
}

const noSums = (): Sums => ({ operations: 0n, pages: 0n, free_pages: 0n, credits: 0n });

/** A gift counts below zero: it is no consumption. */
const addTo = (sums: Sums, { type, data }: Movement): void => {
  sums.operations += 1n;
  if (type === 'CreditsAdjusted') {
    sums.credits -= BigInt(data.credits);
    return;
  }
  sums.pages += BigInt(data.pages);
  sums.free_pages += BigInt(data.free_pages);
  sums.credits += BigInt(data.credits);
};

type Day = ReturnType<typeof dimensionsOf> & Sums;

interface DocumentUse {
  readonly tenant_id: string;
  readonly document_id: string;
  task_id: string;
  operations: bigint;
  pages: bigint;
  credits: bigint;
  last_used_at: string;
  last_position: bigint;
}

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
  tables: ['usage_days', 'usage_documents'],
  start: () => {
    const days = new Map<string, Day>();
    const documents = new Map<string, DocumentUse>();
    return {
      apply: (event) => {
        if (event.type !== 'CreditsBurned' && event.type !== 'CreditsAdjusted') return;
        const dimensions = dimensionsOf(event);
        const key = JSON.stringify(Object.values(dimensions));
        const day = days.get(key) ?? { ...dimensions, ...noSums() };
        days.set(key, day);
        addTo(day, event);
        useDocument(documents, event);
      },
      finish: (emit) => {
        for (const day of days.values()) emit('usage_days', { ...day });
        for (const use of documents.values()) emit('usage_documents', { ...use });
      },
    };
  },
};
