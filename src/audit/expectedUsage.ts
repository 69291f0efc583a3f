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
import { tagNames, tagValues, usageQuarters } from '../../projections/usageStats.ts';

/** Values of a name that are told apart. */
const VALUES_MAX = 10_000;

/** Names of a tenant that are told apart; all others are counted as `*`. */
const NAMES_MAX = 100;

const QUARTER_MS = 900_000;

const quarterAt = (at: string): string =>
  new Date(Math.floor(Date.parse(at) / QUARTER_MS) * QUARTER_MS).toISOString().slice(0, 16);

/** The names and values that are told apart, of each tenant and name the first in the log. */
const firstValues = () => {
  const names = new Map<string, { readonly of: readonly [string, string]; readonly values: Set<string> }>();
  const namesOf = new Map<string, number>();
  return {
    /** The value, null if it is one too many, or undefined if its name is. */
    seen: (tenant: string, name: string, value: string): string | null | undefined => {
      const key = JSON.stringify([tenant, name]);
      const [found, many] = [names.get(key), namesOf.get(tenant) ?? 0];
      if (found === undefined && many >= NAMES_MAX) return undefined;
      const known = found ?? { of: [tenant, name] as const, values: new Set<string>() };
      if (found === undefined) namesOf.set(tenant, many + 1);
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
      const apart = told.filter(([, as]) => as !== undefined);
      const others = apart.length < told.length ? [['*', null]] : [];
      const tags = told.length === 0 ? null : (Object.fromEntries([...apart, ...others]) as object);
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
