import { keyRole } from '../../domain/apiKey/events.ts';
import { rowReader, wholeOf } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';
import { finding, listing, paging, telling, type Page } from '../engine/query.ts';
import { omit, pick } from '../engine/table.ts';
import { apiKeys } from './apiKeys.schema.ts';

const checked = pick(apiKeys.columns, 'tenant_id', 'key_hash', 'replaces', 'replaced_by');
const readChecked = rowReader(checked);
const readItem = rowReader(
  omit(apiKeys.columns, 'position', 'role', 'rotated_at', 'tenant_id', 'key_hash', 'replaces', 'replaced_by'),
);

/** A key as lists show it. `last_used_at` is not recorded as an event and is null. */
const itemOf = (row: SqlRow) => ({
  ...readItem(row),
  role: keyRole.parse(row['role']),
  last_used_at: null,
});

/** A key with what a request is checked against. */
export type ApiKeyRow = ReturnType<typeof keyOf>;
const keyOf = (row: SqlRow) => ({ ...itemOf(row), ...readChecked(row) });

/** The keys with these SHA-256 (hex), live or not, by it. */
export const apiKeysByHash = (sql: SqlTx) => {
  const found = listing(
    'select * from read.api_keys where key_hash = any($1::text[])',
    (keyHashes: readonly string[]) => [keyHashes],
    keyOf,
  )(sql);
  return async (keyHashes: readonly string[]): Promise<ReadonlyMap<string, ApiKeyRow>> =>
    new Map((await found(keyHashes)).map((key) => [key.key_hash, key]));
};

export const apiKeyById = finding(
  'select * from read.api_keys where key_id = $1',
  (keyId: string) => [keyId],
  keyOf,
);

interface KeysQuery extends Page {
  readonly tenant_id: string;
}

/** A tenant's keys, newest first, revoked ones too. */
export const apiKeysOfTenant = paging(
  { chosen: 'from read.api_keys where tenant_id = $1', order: 'position desc' },
  ({ tenant_id }: KeysQuery) => [tenant_id],
  itemOf,
);

/** Keys that were made with a key, or with one of those, that are neither revoked nor expired at `now`. */
export const liveKeysMadeWith = listing(
  `with recursive made as (
     select key_id from read.api_keys where made_by = $1
     union
     select one.key_id from read.api_keys one join made on one.made_by = made.key_id
   )
   select * from read.api_keys
   where key_id in (select key_id from made) and revoked_at is null and (expires_at is null or expires_at > $2)
   order by position`,
  (keyId: string, now: string) => [keyId, now],
  keyOf,
);

/** Admin keys that are neither revoked nor expired at `now`. */
export const liveAdminKeys = telling(
  `select count(*) as n from read.api_keys
   where role = 'admin' and revoked_at is null and (expires_at is null or expires_at > $1)`,
  (now: string) => [now],
  (row) => wholeOf(row, 'n'),
);
