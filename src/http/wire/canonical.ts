import { z } from 'zod';
import { orAbsent, plainText, tenantIdText } from './basics.ts';
import { channelFields, llmChannelIn, ocrChannelIn } from './channels.ts';
import { extractModeIn, minConfidenceIn, openingFields, renderFields, sourceUrlIn } from './documents.ts';

export const ocrToMarkdownRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    file_uri: orAbsent(plainText(1, 500)).meta({ description: 'As presign gave it.' }),
    source_url: orAbsent(sourceUrlIn),
    file_name: orAbsent(plainText(1, 255)),
    mode: z.enum(['default', 'fast']).default('default'),
    ocr: ocrChannelIn.nullish(),
    project_id: plainText(1, 128).default('default'),
    task_id: plainText(1, 128).default('default'),
    ...openingFields,
    ...renderFields,
  })
  .meta({ id: 'ToMarkdownRequest' });

const canonicalScope = z
  .strictObject({
    tenant_id: tenantIdText,
    project_id: plainText(1, 128).default('default'),
    task_id: plainText(1, 128).default('default'),
    environment: plainText(1, 64).default('prod'),
  })
  .meta({ id: 'CanonicalScope' });

const canonicalResource = z
  .strictObject({
    file_uri: orAbsent(plainText(1, 500)),
    source_url: orAbsent(sourceUrlIn),
    document_id: orAbsent(plainText(1, 200)),
    artifact_id: orAbsent(plainText(1, 200)),
    job_id: orAbsent(plainText(1, 200)),
    config_id: orAbsent(plainText(1, 200)),
  })
  .meta({ id: 'CanonicalResource' });

export const canonicalEnvelope = z.strictObject({
  schema_version: plainText(1, 20).meta({ description: '`1.0`.' }),
  operation: plainText(1, 100),
  scope: canonicalScope,
  resource: canonicalResource.default({}),
  payload: z.record(z.string(), z.unknown()).default({}),
});

const envelopeOf = <Payload extends z.ZodType>(operation: string, payload: Payload) => {
  const name = operation.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const members = { operation: z.literal(operation), payload: payload.optional() };
  return canonicalEnvelope.extend(members).meta({ id: `Canonical${name}` });
};

/** The envelope as the reference shows it: with each operation's own payload. */
export const envelopeByOperation = (payloads: Readonly<Record<string, z.ZodType>>) => {
  const [first, ...rest] = Object.entries(payloads).map(([name, payload]) => envelopeOf(name, payload));
  if (first === undefined) throw new Error('the envelope has no operation');
  return z.discriminatedUnion('operation', [first, ...rest]).meta({ id: 'CanonicalEnvelope' });
};

export type CanonicalEnvelope = z.output<typeof canonicalEnvelope>;

/** Payload of `inference.extract`: the fields of the form but the file, with the schema as an object. */
export const extractPayload = z.strictObject({
  schema: z.unknown().optional(),
  mode: orAbsent(extractModeIn),
  artifact_id: orAbsent(plainText(1, 200)),
  config_id: orAbsent(plainText(1, 200)),
  allow_partial: z.boolean().default(false),
  citations: z.boolean().default(true),
  min_confidence: minConfidenceIn.optional(),
  file_name: orAbsent(plainText(1, 255)),
  ...openingFields,
  llm: llmChannelIn.nullish(),
  ocr: ocrChannelIn.nullish(),
  ...channelFields('llm'),
  ...channelFields('ocr'),
});

/** Payload of operations that need no more than scope and resource. */
export const noPayload = z.strictObject({});

/** Payload of `artifact.list`. */
export const listPayload = z.strictObject({
  limit: z.int().min(1).max(1000).default(100),
  offset: z.int().min(0).default(0),
});

/** Payload of `inference.to_markdown`: as `/v1/ocr/to-markdown` has it, or the fields of the form. */
export const toMarkdownPayload = z.strictObject({
  mode: z.enum(['default', 'fast']).optional(),
  conversion_mode: z.enum(['default', 'fast']).optional(),
  file_name: orAbsent(plainText(1, 255)),
  ...openingFields,
  ...renderFields,
  ocr: ocrChannelIn.nullish(),
  ...channelFields('ocr'),
});

export const canonicalResponse = z
  .strictObject({
    schema_version: z.literal('1.0'),
    operation: z.string(),
    request_id: z.string(),
    result: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'CanonicalResponse' });
