import { z } from 'zod';
import { keyRole } from '../../../domain/apiKey.ts';
import { instantIn, instantOut, pagingQuery, plainText, tenantIdText, wholeNumberText } from './basics.ts';

export const apiKeyCreateRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    role: keyRole.default('tenant'),
    name: plainText(1, 200).nullish(),
    expires_at: instantIn.nullish().meta({
      description:
        'Left out: it does not end; one that is made with a key of the same role that ends, ends with that. A later ' +
        'end than that is refused.',
    }),
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

/** What was answered before there were pages is answered still, up to the most that a page may hold. */
export const apiKeysQuery = z.object({ ...pagingQuery, limit: wholeNumberText(1, 1000).default(1000) });

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
        made_by: z
          .string()
          .nullable()
          .meta({
            description:
              'Who made it, as events name them: the `key_id` of the key that was used or that opened the session, ' +
              '`oidc:` and a subject, or a part of the service.',
          }),
        last_used_at: instantOut.nullable().meta({
          description: 'When this process last saw it; null if it has not since it started.',
        }),
      }),
    ),
    ...{ total: z.int(), limit: z.int(), offset: z.int() },
  })
  .meta({ id: 'ApiKeyList' });

export const flushResponse = z.strictObject({ flushed: z.int() }).meta({ id: 'FlushResponse' });
