import type { ReadTable } from '../engine/projector.ts';

/** Every API key ever issued, by hash and display characters only. */
export const apiKeysDdl = (schema: string): string => `
  create table ${schema}.api_keys (
    key_id text collate "C" primary key,
    key_hash text collate "C" not null unique,
    tenant_id text collate "C" not null,
    position int8 not null,
    prefix text not null,
    last4 text not null,
    role text not null,
    name text,
    replaces text,
    replaced_by text,
    created_at text not null,
    expires_at text,
    rotated_at text,
    revoked_at text
  );
  create index on ${schema}.api_keys (tenant_id, position desc);
  create index on ${schema}.api_keys (role) where revoked_at is null`;

export const apiKeysTables: readonly ReadTable[] = [{ name: 'api_keys', key: ['key_id'] }];
