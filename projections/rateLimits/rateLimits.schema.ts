import type { ReadTable } from '../engine/projector.ts';

/** One row for each tenant that has limits of its own; null inherits the default. */
export const rateLimitsDdl = (schema: string): string => `
  create table ${schema}.rate_limits (
    tenant_id text collate "C" primary key,
    heavy_rate int4,
    heavy_burst int4,
    general_rate int4,
    general_burst int4,
    updated_at text not null,
    updated_by text not null
  )`;

export const rateLimitsTables: readonly ReadTable[] = [{ name: 'rate_limits', key: ['tenant_id'] }];
