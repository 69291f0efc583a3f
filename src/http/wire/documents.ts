import { z } from 'zod';
import { pageChoice } from '@quire/engine/document/pageChoice';
import { billingType } from '../../../domain/account/messages.ts';
import { booleanText, creditsOut, numberText, plainText, tenantIdText } from './basics.ts';
import { pageContents } from './blocks.ts';
import { channelFields } from './channels.ts';

const MIN_CONFIDENCE =
  'A value less sure than this, 0 to 1, is left out, and `meta.warnings` has it as `low_confidence`. Default: 0.5.';

/** As numbers are spelled in JSON. */
export const minConfidenceIn = z.number().min(0).max(1).meta({ description: MIN_CONFIDENCE });

/** Pages of a document, spelled alike whoever names them. */
const pageChoiceIn = z
  .string()
  .max(1000)
  .transform((text, context) => {
    const choice = pageChoice(text);
    if (choice.kind === 'choice') return choice.text;
    context.addIssue({ code: 'custom', message: choice.detail });
    return z.NEVER;
  })
  .meta({ 'x-wire': { type: 'string', maxLength: 1000 } });

/** How a document is opened. */
export const openingFields = {
  pages: pageChoiceIn.optional().meta({
    description:
      'Pages to read, such as `1-3,7` or `5-`: only they are read and billed. Default: all. ' +
      'At most 100 ranges; a range may end beyond the last page, but not begin there.',
  }),
  password: plainText(1, 200)
    .optional()
    .meta({ description: 'Of an encrypted PDF. It is never stored or logged.' }),
};

export const sourceUrlIn = plainText(1, 2_000).meta({
  description:
    'Where the document is fetched from, instead of a file: an `https` URL at a public host. At most as many bytes ' +
    'as a file may have; redirects are not followed. Where the installation allows it.',
});

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
    source_url: sourceUrlIn.optional(),
    ...openingFields,
    ...scope,
    ...channelFields('llm'),
    ...channelFields('ocr'),
  })
  .meta({ id: 'ExtractForm' });

const INCLUDES = ['blocks', 'page_markdown', 'proposed_schema'] as const;
type Include = (typeof INCLUDES)[number];

const includeList = z.array(z.enum(INCLUDES)).max(INCLUDES.length);

/** A comma-separated list, as forms have it. */
const includeText = z
  .string()
  .max(100)
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(includeList)
  .meta({
    'x-wire': {
      type: 'string',
      description: 'Comma-separated, of `blocks`, `page_markdown` and `proposed_schema`.',
    },
  });

const INCLUDE =
  '`blocks`: of each page its blocks in reading order, with their boxes; `page_markdown`: the markdown of each page ' +
  'by itself. Both are in the member `pages`. `proposed_schema`: a JSON Schema for an extraction, of the fields that ' +
  'the document names itself, in the member of this name.';
const TABLE_FORMAT =
  '`html` writes tables with their spans as HTML; `markdown`, the default, repeats what spans.';

const tableFormatIn = z.enum(['markdown', 'html']).default('markdown').meta({ description: TABLE_FORMAT });

/** What a conversion gives beside the whole text, in JSON. */
export const renderFields = {
  include: z.union([includeList, includeText]).optional().meta({ description: INCLUDE }),
  table_format: tableFormatIn,
};

/** The same members for those that do the work. */
export const conversionFormOf = ({
  include = [],
  table_format,
}: {
  readonly include?: readonly Include[] | undefined;
  readonly table_format: 'markdown' | 'html';
}) => ({
  blocks: include.includes('blocks'),
  pageMarkdown: include.includes('page_markdown'),
  proposedSchema: include.includes('proposed_schema'),
  tables: table_format,
});

export const toMarkdownForm = z
  .strictObject({
    conversion_mode: z.enum(['default', 'fast']).default('default'),
    include: includeText.optional().meta({ description: INCLUDE }),
    table_format: tableFormatIn,
    source_url: sourceUrlIn.optional(),
    ...openingFields,
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

const points = z.number().nullable().meta({
  description: 'Points, of the page as boxes on it are measured; null for formats without geometry.',
});

const page = z
  .strictObject({
    page: z.int().meta({ description: 'From 1.' }),
    status: z.enum(['ok', 'partial', 'empty', 'failed', 'skipped']).meta({
      description:
        '`partial`: some of it could not be read; `empty`: nothing is on it; `skipped`: the mode does not read it.',
    }),
    source: z.enum(['text', 'recognised', 'both']),
    detail: z.string().nullable().meta({
      description: 'Why the status is not `ok`; of a page that is: what became of a text layer in doubt.',
    }),
    width: points,
    height: points,
    rotation: z
      .union([z.literal(0), z.literal(90), z.literal(180), z.literal(270)])
      .meta({ description: 'Degrees, clockwise, that the page is turned by before boxes are measured.' }),
  })
  .meta({ id: 'PageSummary' });

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
    code: z.string().meta({
      description:
        '`no_text_found`; `hidden_text` was left out; `garbled_text`: the fonts of pages do not say which letters ' +
        'they draw; `page_failed`; `deadline_reached`: pages were not looked at for want of time; ' +
        '`low_confidence`; `inexact_number`: digits that no number holds were left out; ' +
        '`not_grounded`; `own_key_not_used`. More may be added.',
    }),
    message: z.string(),
    path: z.string().optional().meta({
      description: 'Of a value that was left out: JSON Pointer into `result`; of an item, its list.',
    }),
    value: z.unknown().optional().meta({ description: 'Of a value that was left out: as it was read.' }),
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
    pages: z.array(pageContents).optional().meta({ description: 'What `include` asks for, page by page.' }),
    proposed_schema: z.record(z.string(), z.unknown()).optional().meta({
      description: 'Where `include` asks for it: a JSON Schema of the labels and table headers found.',
    }),
    meta: z.strictObject({
      conversion_id: z.string(),
      document_id: z.string(),
      file_name: z.string().nullable(),
      mime_type: z.string(),
      page_count: z.int(),
      pages: z.array(page),
      mode: z.enum(['default', 'fast']),
      model: z.string(),
      billing_type: billingType,
      cost,
      duration_ms: z.int(),
      warnings: z.array(warning),
    }),
  })
  .meta({ id: 'MarkdownResult' });
