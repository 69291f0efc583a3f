import { createHash } from 'node:crypto';
import {
  accountOf,
  type AuditedEventOf,
  byType,
  type ExpectedModel,
  type ExpectedSum,
  keptRows,
} from './auditedEvent.ts';
import { noSums } from '../../projections/engine/table.ts';
import { usageDays, usageDocuments } from '../../projections/usage.ts';
import { tagNames, tagValues, usageQuarters } from '../../projections/usageStats.ts';

/** Values of a name that are told apart. */
const VALUES_MAX = 10_000;

const QUARTER_MS = 900_000;

const quarterAt = (at: string): string =>
  new Date(Math.floor(Date.parse(at) / QUARTER_MS) * QUARTER_MS).toISOString().slice(0, 16);

/** The values that are told apart, of each tenant and name the first in the log. */
const firstValues = () => {
  const names = new Map<string, { readonly of: readonly [string, string]; readonly values: Set<string> }>();
  return {
    /** The value, or null if it is one too many. */
    seen: (tenant: string, name: string, value: string): string | null => {
      const key = JSON.stringify([tenant, name]);
      const known = names.get(key) ?? { of: [tenant, name], values: new Set<string>() };
      names.set(key, known);
      if (known.values.size < VALUES_MAX) known.values.add(value);
      return known.values.has(value) ? value : null;
    },
    all: () => names.values(),
  };
};

type Row = Omit<ExpectedSum<typeof usageQuarters>, 'tags'> & { readonly tags: object | null };

/** Consumption by quarters of hours and by what it was for. */
export const usageStatsRows: ExpectedModel = {
  name: 'usage_stats',
  tables: [usageQuarters, tagNames, tagValues],
  start: (emit) => {
    const quarters = keptRows<typeof usageQuarters, Row>(usageQuarters, emit);
    const first = firstValues();
    const burned = ({ stream, data }: AuditedEventOf<'CreditsBurned'>): void => {
      const tenant_id = accountOf(stream) ?? '';
      const told = Object.entries(data.tags ?? {}).map(([name, value]) => [
        name,
        first.seen(tenant_id, name, value),
      ]);
      const tags = told.length === 0 ? null : (Object.fromEntries(told) as object);
      const tags_key = tags === null ? '' : createHash('sha256').update(JSON.stringify(tags)).digest('hex');
      const { operation, project_id, task_id } = data;
      const of = { tenant_id, quarter: quarterAt(data.created_at), operation, project_id, task_id };
      const place = { ...of, api_key_id: data.api_key_id ?? '', tags_key };
      const row = quarters.at(JSON.stringify(Object.values(place)), () => ({
        ...place,
        tags,
        ...noSums(usageQuarters.columns),
      }));
      row.operations += 1n;
      row.pages += BigInt(data.pages);
      row.free_pages += BigInt(data.free_pages);
      row.credits += BigInt(data.credits);
    };
    const finish = (): void => {
      quarters.emitAll();
      for (const {
        of: [tenant_id, name],
        values,
      } of first.all()) {
        emit(tagNames, { tenant_id, name, known: BigInt(values.size) });
        for (const value of values) emit(tagValues, { tenant_id, name, value });
      }
    };
    return { apply: byType({ CreditsBurned: burned }), finish };
  },
};

type Movement = AuditedEventOf<
  'CreditsBurned' | 'CreditsAdjusted' | 'CreditsTransferredOut' | 'CreditsTransferredIn'
>;

/** In the place of a dimension that a movement does not have. */
const NONE = 'none';

const dimensionsOf = ({ type, stream, data }: Movement) => {
  const place = { day: data.created_at.slice(0, 10), tenant_id: accountOf(stream) ?? '' };
  if (type === 'CreditsAdjusted') {
    const words = { kind: 'admin_adjustment', operation: 'admin_adjustment', category: 'adjustment' };
    return { ...place, ...words, extraction_mode: NONE, billing_type: NONE, task_id: NONE };
  }
  if (type !== 'CreditsBurned') {
    const words = { kind: 'transfer', operation: 'transfer', category: 'adjustment' };
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
      CreditsTransferredOut: (event) => void (dayOf(event).credits += BigInt(event.data.credits)),
      CreditsTransferredIn: (event) => void (dayOf(event).credits -= BigInt(event.data.credits)),
      CreditsBurned: (event) => {
        const [day, { data }] = [dayOf(event), event];
        day.pages += BigInt(data.pages);
        day.free_pages += BigInt(data.free_pages);
        day.credits += BigInt(data.credits);
        useDocument(event);
      },
    });
    const finish = (): void => {
      for (const rows of [days, documents]) rows.emitAll();
    };
    return { apply, finish };
  },
};
