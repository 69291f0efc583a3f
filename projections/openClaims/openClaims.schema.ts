import type { ReadTable } from '../engine/projector.ts';

/** Payment identities that were claimed and have neither an effect nor a release yet. */
export const openClaimsDdl = (schema: string): string => `
  create table ${schema}.open_claims (
    stream text collate "C" primary key,
    tenant_id text collate "C" not null,
    kind text not null,
    claimed_at text collate "C" not null
  );
  create index on ${schema}.open_claims (claimed_at)`;

export const openClaimsTables: readonly ReadTable[] = [{ name: 'open_claims', key: ['stream'] }];
