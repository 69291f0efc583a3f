import type { KeyRole } from '../../domain/apiKey/events.ts';
import { keyRole } from '../../domain/apiKey/events.ts';
import { textOf, textOrNull, wholeOf, onlyRow } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';

/** A key as lists show it. `last_used_at` is not recorded as an event and is null. */
export interface ApiKeyItem {
  readonly key_id: string;
  readonly prefix: string;
  readonly last4: string;
  readonly role: KeyRole;
  readonly name: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
}

/** A key with what a request is checked against. */
export interface ApiKeyRow extends ApiKeyItem {
  readonly tenant_id: string;
  readonly key_hash: string;
  readonly replaces: string | null;
  readonly replaced_by: string | null;
}

const itemOf = (row: SqlRow): ApiKeyItem => ({
  key_id: textOf(row, 'key_id'),
  prefix: textOf(row, 'prefix'),
  last4: textOf(row, 'last4'),
  role: keyRole.parse(row['role']),
  name: textOrNull(row, 'name'),
  created_at: textOf(row, 'created_at'),
  expires_at: textOrNull(row, 'expires_at'),
  revoked_at: textOrNull(row, 'revoked_at'),
  last_used_at: null,
});

const keyOf = (row: SqlRow): ApiKeyRow => ({
  ...itemOf(row),
  tenant_id: textOf(row, 'tenant_id'),
  key_hash: textOf(row, 'key_hash'),
  replaces: textOrNull(row, 'replaces'),
  replaced_by: textOrNull(row, 'replaced_by'),
});

/** The keys with these SHA-256 (hex), live or not, by it. */
export const apiKeysByHash =
  (sql: SqlTx) =>
  async (keyHashes: readonly string[]): Promise<ReadonlyMap<string, ApiKeyRow>> => {
    const rows = await sql.query('select * from read.api_keys where key_hash = any($1::text[])', [keyHashes]);
    return new Map(rows.map(keyOf).map((key) => [key.key_hash, key]));
  };

export const apiKeyById =
  (sql: SqlTx) =>
  async (keyId: string): Promise<ApiKeyRow | undefined> =>
    (await sql.query('select * from read.api_keys where key_id = $1', [keyId])).map(keyOf)[0];

/** A tenant's keys, newest first, revoked ones too. */
export const apiKeysOfTenant =
  (sql: SqlTx) =>
  async (tenantId: string): Promise<readonly ApiKeyItem[]> =>
    (
      await sql.query('select * from read.api_keys where tenant_id = $1 order by position desc', [tenantId])
    ).map(itemOf);

/** Admin keys that are neither revoked nor expired at `now`. */
export const liveAdminKeys =
  (sql: SqlTx) =>
  async (now: string): Promise<number> =>
    wholeOf(
      onlyRow(
        await sql.query(
          `select count(*) as n from read.api_keys
         where role = 'admin' and revoked_at is null and (expires_at is null or expires_at > $1)`,
          [now],
        ),
      ),
      'n',
    );
