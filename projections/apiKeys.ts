import { omit, pick, type Projector, rowReader, table, tagsOf, wholeOf } from './engine/table.ts';
import { actorIn } from '../domain/kernel/decider.ts';
import { inserting, jsonText, lastOf, updating } from './engine/bulk.ts';
import { only, type SqlRow, type SqlTx } from './engine/ports.ts';
import { keyRole } from '../domain/apiKey.ts';
import { finding, listing, type Page, paging, telling } from './engine/query.ts';
import { sortsBy } from './engine/sorts.ts';

/** Every API key ever issued, by hash and display characters only. */
export const apiKeys = table({
  name: 'api_keys',
  key: ['key_id'],
  columns: {
    key_id: 'sorted',
    key_hash: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    prefix: 'text',
    last4: 'text',
    role: 'text',
    name: 'text?',
    /** Of work that does not name others. */
    tags: 'jsonb?',
    /** Its maker, as events name them: the ID of a key, `oidc:<sub>`, or a part of the service. */
    made_by: 'text?',
    replaces: 'text?',
    replaced_by: 'text?',
    created_at: 'text',
    expires_at: 'text?',
    rotated_at: 'text?',
    revoked_at: 'text?',
  },
  unique: ['key_hash'],
  indexes: ['(tenant_id, position desc)', '(made_by)', '(role) where revoked_at is null'],
});

const issue = inserting(apiKeys, {
  columns: omit(apiKeys.columns, 'replaced_by', 'rotated_at', 'revoked_at'),
});
const rotate = updating(apiKeys, 'key_id', 'replaced_by', 'expires_at', 'rotated_at');
const revoke = updating(apiKeys, 'key_id', 'revoked_at');

const lastByKey = <Data extends { readonly key_id: string }>(events: readonly { readonly data: Data }[]) =>
  lastOf(
    events.map(({ data }) => data),
    ({ key_id }) => key_id,
  );

/** API keys: who may act for whom. */
export const apiKeysProjector: Projector = {
  name: 'api_keys',
  version: 3,
  eventTypes: ['ApiKeyIssued', 'ApiKeyRotated', 'ApiKeyRevoked'],
  tables: [apiKeys],
  apply: async (tx, { schema, events }) => {
    const issued = only(events, 'ApiKeyIssued').map(({ data, position, metadata }) => ({
      ...data,
      tags: data.tags === undefined ? null : jsonText(data.tags),
      position,
      made_by: actorIn(metadata),
    }));
    await issue(tx, schema, issued);
    await rotate(tx, schema, lastByKey(only(events, 'ApiKeyRotated')));
    await revoke(tx, schema, lastByKey(only(events, 'ApiKeyRevoked')));
  },
};

const checked = pick(apiKeys.columns, 'tenant_id', 'key_hash', 'replaces', 'replaced_by');
const readChecked = rowReader(checked);
const readItem = rowReader(
  omit(
    apiKeys.columns,
    'position',
    'role',
    'rotated_at',
    'tenant_id',
    'key_hash',
    'tags',
    'replaces',
    'replaced_by',
  ),
);

/** A key as lists show it. `last_used_at` is not recorded as an event and is null. */
const itemOf = (row: SqlRow) => ({
  ...readItem(row),
  role: keyRole.parse(row['role']),
  tags: tagsOf(row),
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

/** What people call some keys; null: a key has no name, or it was erased. */
export const apiKeyNames = listing(
  'select key_id, name from read.api_keys where key_id = any($1::text[])',
  (keyIds: readonly string[]) => [keyIds],
  rowReader(pick(apiKeys.columns, 'key_id', 'name')),
);

interface KeysQuery extends Page {
  readonly tenant_id: string;
}

/** A tenant's keys, newest first, revoked ones too. */
export const apiKeysOfTenant = paging(
  {
    name: 'api_keys',
    chosen: 'from read.api_keys where tenant_id = $1',
    sorts: sortsBy(apiKeys.columns, 'key_id', 'prefix', 'role', 'created_at', 'expires_at', 'revoked_at'),
    searched: { columns: ['key_id', 'prefix', 'last4', 'role'], written: ['name'] },
  },
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
