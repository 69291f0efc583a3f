import { z } from 'zod';
import { configMode } from '../../../domain/savedConfig.ts';
import { instantOut, orAbsent, pageOf, pagingQuery, plainText, tenantIdText } from './basics.ts';
import { modelChannelIn } from './channels.ts';
import { extractModeIn, minConfidenceIn } from './documents.ts';

export const configUpsertRequest = z
  .strictObject({
    config_id: orAbsent(plainText(1, 200)).meta({
      description: 'Of the config to publish a new version of.',
    }),
    tenant_id: tenantIdText,
    name: orAbsent(plainText(1, 200).nullable()),
    schema: z
      .unknown()
      .optional()
      .meta({ description: 'JSON Schema with `type: "object"` and `properties`.' }),
    mode: orAbsent(extractModeIn.nullable()),
    artifact_id: orAbsent(plainText(1, 200).nullable()),
    min_confidence: minConfidenceIn.nullish(),
    llm: modelChannelIn.nullish(),
    ocr: modelChannelIn.nullish(),
  })
  .meta({ id: 'ConfigUpsertRequest' });

const savedChannel = z
  .strictObject({
    provider_model: z.string().nullable(),
    api_base: z.string().nullable(),
    max_tokens: z.int().nullable(),
    temperature: z.number().nullable(),
    num_retries: z.int().nullable(),
    has_api_key: z.boolean(),
    api_key_last4: z.string().nullable(),
  })
  .meta({ id: 'SavedChannel' });

export const configResponse = z
  .strictObject({
    config_id: z.string(),
    version: z.int(),
    tenant_id: z.string(),
    name: z.string().nullable(),
    schema: z.record(z.string(), z.unknown()).nullable(),
    mode: configMode.nullable(),
    artifact_id: z.string().nullable(),
    min_confidence: z.number().nullable(),
    llm: savedChannel.nullable(),
    ocr: savedChannel.nullable(),
    published_at: instantOut,
    published_by: z.string(),
  })
  .meta({ id: 'ConfigResponse' });

export const configsQuery = z.object({ tenant_id: tenantIdText, ...pagingQuery });

export const configList = pageOf(configResponse, 'ConfigList');

export const configParams = z.object({ config_id: plainText(1, 200) });

export const configVersions = z
  .strictObject({
    config_id: z.string(),
    tenant_id: z.string(),
    revoked_at: instantOut.nullable(),
    versions: z.array(configResponse),
  })
  .meta({ id: 'ConfigVersions' });
