import { z } from 'zod';
import { billingType } from '../../../domain/account/words.ts';
import { booleanText, creditsOut, numberText, plainText, tenantIdText } from './basics.ts';
import { channelFields } from './channels.ts';

const MIN_CONFIDENCE =
  'A value less sure than this, 0 to 1, is left out, and `meta.warnings` has it as `low_confidence`. Default: 0.5.';

/** As numbers are spelled in JSON. */
export const minConfidenceIn = z.number().min(0).max(1).meta({ description: MIN_CONFIDENCE });

const scope = {
  tenant_id: tenantIdText.optional().meta({ description: 'For service and admin keys; default: the own.' }),
  project_id: plainText(1, 128).default('default'),
  task_id: plainText(1, 128).default('default'),
};

export const extractModeIn = z
  .enum(['fast', 'standard', 'balanced', 'robust'])
  .meta({ description: 'Default: `standard`; `balanced` is an old name of it.' });

export const extractForm = z
  .strictObject({
    schema: z
      .string()
      .optional()
      .meta({ description: 'JSON Schema with `type: "object"` and `properties`.' }),
    mode: extractModeIn.optional(),
    artifact_id: plainText(1, 200).optional(),
    config_id: plainText(1, 200).optional(),
    allow_partial: booleanText.default(false),
    citations: booleanText.default(true),
    min_confidence: numberText(0, 1).optional(),
    ...scope,
    ...channelFields('llm'),
    ...channelFields('ocr'),
  })
  .meta({ id: 'ExtractForm' });

export const toMarkdownForm = z
  .strictObject({
    conversion_mode: z.enum(['default', 'fast']).default('default'),
    ...scope,
    ...channelFields('ocr'),
  })
  .meta({ id: 'ToMarkdownForm' });

const cost = z
  .strictObject({
    credits_used: creditsOut,
    pages: z.int(),
    balance_remaining: creditsOut.nullable().meta({ description: 'null for keys that are not billed.' }),
  })
  .meta({ id: 'Cost' });

const page = z.strictObject({
  page: z.int(),
  status: z.enum(['ok', 'failed', 'skipped']),
  source: z.enum(['text_layer', 'ocr', 'model', 'markup']),
  detail: z.string().nullable(),
});

const citation = z
  .strictObject({
    path: z.string().meta({ description: 'JSON Pointer into `result`.' }),
    text: z.string(),
    page: z.int(),
    bbox: z.array(z.number()).length(4).nullable().meta({ description: 'Points from the top left.' }),
    confidence: z.number().min(0).max(1),
  })
  .meta({ id: 'Citation' });

const validationErrorItem = z
  .strictObject({
    path: z.string(),
    keyword: z.string(),
    message: z.string(),
    params: z.record(z.string(), z.unknown()),
    actual: z.unknown(),
  })
  .meta({ id: 'OutputValidationError' });

const warning = z
  .strictObject({
    code: z.string(),
    message: z.string(),
    path: z.string().optional().meta({
      description: 'Of `low_confidence`: JSON Pointer into `result`; of an item that was left out, its list.',
    }),
    value: z.unknown().optional().meta({ description: 'Of `low_confidence`: the value as it was read.' }),
    text: z.string().optional(),
    page: z.int().optional(),
    bbox: z.array(z.number()).length(4).nullish().meta({ description: 'Points from the top left.' }),
    confidence: z.number().min(0).max(1).optional(),
  })
  .meta({ id: 'Warning' });

export const extractResponse = z
  .strictObject({
    status: z.enum(['success', 'partial']),
    result: z.record(z.string(), z.unknown()),
    cost,
    validation_errors: z.array(validationErrorItem).nullable(),
    meta: z.strictObject({
      extraction_id: z.string(),
      document_id: z.string(),
      file_name: z.string().nullable(),
      mime_type: z.string(),
      mode: z.enum(['fast', 'standard', 'robust']),
      billing_type: billingType,
      model: z.string(),
      ocr_model: z.string().nullable(),
      config_id: z.string().nullable(),
      config_version: z.int().nullable(),
      artifact_id: z.string().nullable(),
      free_pages: z.int(),
      duration_ms: z.int(),
      warnings: z.array(warning),
      pages: z.array(page),
      citations: z.array(citation),
    }),
  })
  .meta({ id: 'ExtractionResult' });

export const markdownResponse = z
  .strictObject({
    markdown: z.string(),
    plain_text: z.string(),
    meta: z.strictObject({
      conversion_id: z.string(),
      document_id: z.string(),
      file_name: z.string().nullable(),
      mime_type: z.string(),
      pages: z.int(),
      mode: z.enum(['default', 'fast']),
      model: z.string(),
      billing_type: billingType,
      cost,
      duration_ms: z.int(),
      warnings: z.array(warning),
    }),
  })
  .meta({ id: 'MarkdownResult' });
