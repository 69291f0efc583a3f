import type { ReadTable } from '../engine/projector.ts';

/**
 * Terms by version, and the rates that each version set. A rate is in force from its version until the
 * next version that sets the same operation, mode and type; a published config sets all of them.
 */
export const billingConfigsDdl = (schema: string): string => `
  create table ${schema}.billing_configs (
    version int4 primary key,
    terms jsonb,
    all_rates boolean not null,
    note text,
    created_at text not null,
    created_by text not null
  );
  create table ${schema}.billing_rates (
    version int4 not null,
    operation text collate "C" not null,
    extraction_mode text collate "C" not null,
    billing_type text collate "C" not null,
    credits_per_page int8 not null,
    effective_at text not null,
    primary key (version, operation, extraction_mode, billing_type)
  )`;

export const billingConfigsTables: readonly ReadTable[] = [
  { name: 'billing_configs', key: ['version'] },
  { name: 'billing_rates', key: ['version', 'operation', 'extraction_mode', 'billing_type'] },
];
