import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { instant, tenantId } from '../kernel/units.ts';

/** A model and how it is asked. Its key lies sealed in object storage, under `secret_id`; never here. */
const channelSettings = z.strictObject({
  /** `<provider>/<model>`. */
  provider_model: z.string().nullable(),
  api_base: z.string().nullable(),
  max_tokens: z.int().min(1).nullable(),
  /** 0.0 to 2.0. */
  temperature: z.number().min(0).max(2).nullable(),
  num_retries: z.int().min(0).nullable(),
  secret_id: z.string().nullable(),
  /** For people; null for a key that is too short to show any of it. */
  api_key_last4: z.string().nullable(),
});
export type ChannelSettings = z.output<typeof channelSettings>;

/** `balanced`, an old name of `standard`, is published as `standard`. */
export const configMode = z.enum(['fast', 'standard', 'robust']);

/** A version, complete in itself. Versions count from 1; the latest is the one that is used. */
const configPublished = event('ConfigPublished', {
  config_id: z.string(),
  version: z.int().min(1),
  tenant_id: tenantId,
  name: z.string().nullable(),
  schema: z.record(z.string(), z.json()).nullable(),
  mode: configMode.nullable(),
  artifact_id: z.string().nullable(),
  /** 0.0 to 1.0; left out by releases that gave every value. */
  min_confidence: z.number().min(0).max(1).nullable().optional(),
  llm: channelSettings.nullable(),
  ocr: channelSettings.nullable(),
  published_at: instant,
  published_by: z.string(),
});
export type ConfigVersion = z.output<typeof configPublished>['data'];

/** The last event of its stream. */
const configRevoked = event('ConfigRevoked', {
  config_id: z.string(),
  tenant_id: tenantId,
  revoked_at: instant,
});

export const savedConfigEvent = z.discriminatedUnion('type', [configPublished, configRevoked]);
export type SavedConfigEvent = z.output<typeof savedConfigEvent>;

export const savedConfigStream = (configId: string): string => `config-${configId}`;
