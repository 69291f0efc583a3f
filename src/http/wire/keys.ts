import { z } from 'zod';
import { keyRole } from '../../../domain/apiKey/events.ts';
import { instantIn, instantOut, plainText, tenantIdText } from './basics.ts';

export const apiKeyCreateRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    role: keyRole.default('tenant'),
    name: plainText(1, 200).nullish(),
    expires_at: instantIn.nullish(),
  })
  .meta({ id: 'ApiKeyCreateRequest' });

export const apiKeyRotateRequest = z
  .strictObject({
    key: plainText(1, 512).meta({ description: 'The key itself, or its `key_id`.' }),
    grace_seconds: z.int().min(0).max(604_800).default(0),
  })
  .meta({ id: 'ApiKeyRotateRequest' });

export const apiKeyCreateResponse = z
  .strictObject({
    key_id: z.string(),
    key: z.string().meta({ description: 'Shown this once.' }),
    prefix: z.string(),
    tenant_id: z.string(),
    role: keyRole,
    name: z.string().nullable(),
    created_at: instantOut,
    expires_at: instantOut.nullable(),
  })
  .meta({ id: 'ApiKeyCreateResponse' });

export const apiKeyList = z
  .strictObject({
    tenant_id: z.string(),
    items: z.array(
      z.strictObject({
        key_id: z.string(),
        prefix: z.string(),
        last4: z.string(),
        role: keyRole,
        name: z.string().nullable(),
        created_at: instantOut,
        expires_at: instantOut.nullable(),
        revoked_at: instantOut.nullable(),
        last_used_at: instantOut.nullable().meta({
          description: 'When this process last saw it; null if it has not since it started.',
        }),
      }),
    ),
  })
  .meta({ id: 'ApiKeyList' });

export const flushResponse = z.strictObject({ flushed: z.int() }).meta({ id: 'FlushResponse' });
