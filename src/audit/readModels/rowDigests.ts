import { canonicalJson, sha256 } from '../../../domain/kernel/chain.ts';
import type { Json } from '../../../domain/kernel/json.ts';
import type { Table } from '../../../projections/engine/table.ts';

/** Rows of one table and tenant: how many, and a sum that does not depend on their order. */
interface GroupDigest {
  rows: number;
  sum: bigint;
}

export type RowDigests = ReturnType<typeof rowDigests>;

/** A row in the form that both sides are brought to: whole numbers as text, objects as JSON. */
export type PlainRow = Readonly<Record<string, Json>>;

const plainValue = (value: unknown): Json => {
  if (value === null || value === undefined || typeof value === 'boolean') return value ?? null;
  if (typeof value === 'bigint' || typeof value === 'number') return value.toString();
  // Postgres cannot store U+0000; the read models have U+FFFD in its place.
  if (typeof value === 'string') return value.replaceAll('\0', '\uFFFD');
  return JSON.parse(JSON.stringify(value).replaceAll('\\u0000', '\uFFFD')) as Json;
};

export const plainRow = (row: Readonly<Record<string, unknown>>): PlainRow =>
  Object.fromEntries(Object.entries(row).map(([column, value]) => [column, plainValue(value)]));

/** The columns of a table, of a row that may have more. */
export const plainColumns = ({ columns }: Table, row: Readonly<Record<string, unknown>>): PlainRow =>
  Object.fromEntries(Object.keys(columns).map((column) => [column, plainValue(row[column])]));

export const groupOf = (row: PlainRow): string => {
  const tenant = row['tenant_id'];
  return typeof tenant === 'string' ? tenant : '';
};

const MODULUS = 1n << 256n;

/**
 * Digests by table and, where a table has tenants, by tenant: the sum of the SHA-256 of the rows, mod 2^256,
 * equal for the same rows in any order.
 */
export const rowDigests = () => {
  const tables = new Map<string, Map<string, GroupDigest>>();
  const groups = (table: string): Map<string, GroupDigest> => {
    const known = tables.get(table) ?? new Map<string, GroupDigest>();
    tables.set(table, known);
    return known;
  };
  return {
    groups,
    add: (table: string, row: PlainRow): void => {
      const byTenant = groups(table);
      const digest = byTenant.get(groupOf(row)) ?? { rows: 0, sum: 0n };
      digest.rows += 1;
      digest.sum = (digest.sum + BigInt(`0x${sha256(canonicalJson(row))}`)) % MODULUS;
      byTenant.set(groupOf(row), digest);
    },
  };
};
