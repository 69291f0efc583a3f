import { z } from 'zod';
import { pageChoice } from '@quire/engine/document/pages';
import { settingMembers } from '@quire/engine/ports/extractionEngine';
import {
  booleanText,
  creditsOut,
  numberText,
  orAbsent,
  plainText,
  tagsIn,
  tagsText,
  tenantIdText,
  wholeNumberText,
} from './basics.ts';
import { billingType } from '../../../domain/account/messages.ts';
import { reviewPolicy } from '../../../domain/review.ts';
import { checkOutcome, citation, duplicateOut, originsOut, reviewIn, reviewText } from './reviewSchemas.ts';
import {
  CHUNKS,
  chunkOut,
  chunksIn,
  chunksText,
  chunkWishOf,
  codeOut,
  pageContents,
  tableOut,
} from './partSchemas.ts';

const TOKENS_MAX = 10_000_000;
const RETRIES_MAX = 10;

/** The required form of a channel's members if it runs, in JSON. */
export const CHANNEL_MEMBERS = {
  provider_model: plainText(1, 200),
  api_key: plainText(1, 1000),
  api_base: plainText(1, 2000),
  max_tokens: z.int().min(1).max(TOKENS_MAX),
  temperature: z.number().min(0).max(2),
  num_retries: z.int().min(0).max(RETRIES_MAX),
};

export type ChannelMember = keyof typeof CHANNEL_MEMBERS;

/** The same in a form, where numbers are texts. */
export const CHANNEL_FIELDS = {
  ...CHANNEL_MEMBERS,
  max_tokens: wholeNumberText(1, TOKENS_MAX),
  temperature: numberText(0, 2),
  num_retries: wholeNumberText(0, RETRIES_MAX),
};

const NOTE =
  'Used only together with the key of its channel, if that channel runs; otherwise ignored, whatever it is.';

/** A member as it may be sent: what it must be is looked at where it counts. */
const loose = (description: string, documented: Readonly<Record<string, unknown>>) =>
  z
    .unknown()
    .optional()
    .meta({
      'x-wire': {
        description: `${description} ${NOTE}`,
        anyOf: [documented, { description: 'Else ignored.' }],
      },
    });

const looseMembers = (about: string) => ({
  provider_model: loose(`Own ${about} model, \`<provider>/<model>\`.`, { type: 'string', maxLength: 200 }),
  api_key: z
    .string()
    .optional()
    .meta({ description: `Own key for the ${about} model; BYOK rates where it is used. Empty: none.` }),
  api_base: loose('Address of the model’s server.', { type: 'string', maxLength: 2000 }),
  max_tokens: loose('Most tokens in an answer.', { type: 'integer', minimum: 1, maximum: TOKENS_MAX }),
  temperature: loose('0 to 2.', { type: 'number', minimum: 0, maximum: 2 }),
  num_retries: loose('Attempts after the first.', { type: 'integer', minimum: 0, maximum: RETRIES_MAX }),
});

type LooseMembers = ReturnType<typeof looseMembers>;
type Prefixed<Name extends string> = {
  [Member in keyof LooseMembers as `${Name}_${Member}`]: LooseMembers[Member];
};

/** `<channel>_…` members of a form or a payload: a caller's own model. */
const channelFields = <Name extends 'llm' | 'ocr'>(name: Name): Prefixed<Name> =>
  Object.fromEntries(
    Object.entries(looseMembers(name === 'llm' ? 'extraction' : 'OCR')).map(([member, schema]) => [
      `${name}_${member}`,
      schema,
    ]),
  ) as unknown as Prefixed<Name>;

/** A caller's own OCR model, as a member of a JSON body. */
export const ocrChannelIn = z.strictObject(looseMembers('OCR')).meta({ id: 'OcrChannel' });

/** A caller's own extraction model, as a member of a JSON body. */
export const llmChannelIn = z.strictObject(looseMembers('extraction')).meta({ id: 'LlmChannel' });

/** A model that a saved config keeps: nothing that is not what it should be is kept. */
export const modelChannelIn = z
  .strictObject({
    provider_model: orAbsent(CHANNEL_MEMBERS.provider_model),
    api_key: orAbsent(CHANNEL_MEMBERS.api_key),
    api_base: orAbsent(CHANNEL_MEMBERS.api_base),
    max_tokens: orAbsent(CHANNEL_MEMBERS.max_tokens),
    temperature: orAbsent(CHANNEL_MEMBERS.temperature),
    num_retries: orAbsent(CHANNEL_MEMBERS.num_retries),
  })
  .meta({ id: 'ModelChannel' });

const MIN_CONFIDENCE =
  'Values with less confidence (0 to 1) are left out; `meta.warnings` lists them as `low_confidence`. Default: 0.5.';

/** As numbers are spelled in JSON. */
const minConfidenceIn = settingMembers.min_confidence.meta({ description: MIN_CONFIDENCE });

/** What a model is asked for, in any request. */
const modelsForIn = settingMembers.models_for.meta({
  description:
    '`doubtful`: an extraction model is asked only for fields, if any, that the embedded engine did not read with a ' +
    'confidence of 0.9 or more; `meta.read_by` says who read what. The engine reads the document, so the work has ' +
    'full-service rates, also with an own key. Default: `all`.',
});

const REQUIRE_GROUNDING =
  'true: values of an extraction model that are nowhere in the document are left out, and `meta.warnings` lists them ' +
  'as `not_grounded`. Default: false; they stay, with `grounding: none`.';

const requireGroundingIn = settingMembers.require_grounding.meta({ description: REQUIRE_GROUNDING });

/** Pages of a document, in one spelling. */
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
      'Pages to read, such as `1-3,7` or `5-`; only these are read and billed. Default: all. At most 100 ranges; a ' +
      'range may end beyond the last page, but not begin there.',
  }),
  password: plainText(1, 200)
    .optional()
    .meta({ description: 'Password of an encrypted PDF. It is never stored or logged.' }),
};

export const sourceUrlIn = plainText(1, 2_000).meta({
  description:
    'Instead of a file: an `https` URL at a public host from which the document is fetched, if the installation ' +
    'allows it. The size limit is that of files; redirects are not followed.',
});

export const scope = {
  tenant_id: tenantIdText.optional().meta({ description: 'For service and admin keys; default: their own.' }),
  project_id: plainText(1, 128).default('default'),
  task_id: plainText(1, 128).default('default'),
  tags: tagsText.optional(),
};

export const extractModeIn = z
  .enum(['fast', 'standard', 'balanced', 'robust'])
  .meta({ description: 'Default: `standard`; `balanced` is an old name of it.' });

const shownIn = {
  shown_pages: settingMembers.shown_pages.optional().meta({
    description:
      'Which pages of a document of more than 50 pages a model is shown. `relevant`: the pages about what the ' +
      'schema asks for; `meta.warnings` lists the others as `pages_not_shown`. `all`: every page. Default: ' +
      '`relevant`. Ignored without a model.',
  }),
  shown_text: settingMembers.shown_text.optional().meta({
    description:
      'In which form a model is shown the text. `layout`: as on the page, with columns and rows separated by ' +
      'spaces. Default: `markdown`. Ignored without a model.',
  }),
};

/** The fields of an extraction in a JSON body. */
export const extractionIn = {
  schema: z.unknown().optional().meta({ description: 'JSON Schema with `type: "object"` and `properties`.' }),
  mode: orAbsent(extractModeIn),
  artifact_id: orAbsent(plainText(1, 200)),
  config_id: orAbsent(plainText(1, 200)),
  allow_partial: z.boolean().default(false),
  citations: settingMembers.citations.default(true),
  min_confidence: minConfidenceIn.optional(),
  models_for: orAbsent(modelsForIn),
  ...shownIn,
  require_grounding: orAbsent(requireGroundingIn),
  review: orAbsent(reviewIn),
};

/** The settings that a saved config may keep, as it is published. */
export const savedSettingsIn = {
  min_confidence: minConfidenceIn.nullish(),
  models_for: modelsForIn.nullish(),
  require_grounding: requireGroundingIn.nullish(),
  review: reviewIn.nullish(),
};

/** The same as a config that is there tells them. */
export const savedSettingsOut = {
  min_confidence: z.number().nullable(),
  models_for: settingMembers.models_for.nullable(),
  require_grounding: settingMembers.require_grounding.nullable(),
  review: reviewPolicy.nullable(),
};

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
    models_for: modelsForIn.optional(),
    ...shownIn,
    require_grounding: booleanText.optional().meta({ description: REQUIRE_GROUNDING }),
    review: reviewText.optional(),
    source_url: sourceUrlIn.optional(),
    ...openingFields,
    ...scope,
    ...channelFields('llm'),
    ...channelFields('ocr'),
  })
  .meta({ id: 'ExtractForm' });

const INCLUDES = ['blocks', 'page_markdown', 'proposed_schema', 'chunks', 'codes', 'tables'] as const;
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
      description: `Comma-separated list of ${INCLUDES.map((name) => `\`${name}\``).join(', ')}.`,
    },
  });

const INCLUDE =
  '`blocks`: the blocks of each page in reading order, with their boxes. `page_markdown`: the markdown of each page ' +
  'separately. Both are in the member `pages`. `proposed_schema`: a JSON Schema for an extraction of the fields that ' +
  'the document itself names, in the member of this name. `chunks`: parts for retrieval, as `chunks` says. ' +
  '`codes`: QR codes, barcodes and the lines for machines of passports and cards, with what payment codes say. ' +
  '`tables`: each table as rows of texts; with `Accept: text/csv` or XLSX an operation’s result is these tables.';

const TABLE_FORMAT =
  '`html` writes tables with their spans as HTML; `markdown`, the default, repeats what spans.';

const tableFormatIn = z.enum(['markdown', 'html']).default('markdown').meta({ description: TABLE_FORMAT });

/** What a conversion gives beside the whole text, in JSON. */
const renderFields = {
  include: z.union([includeList, includeText]).optional().meta({ description: INCLUDE }),
  chunks: chunksIn.optional().meta({ description: CHUNKS }),
  table_format: tableFormatIn,
};

/** The same members for those that do the work. */
export const conversionFormOf = ({
  include = [],
  chunks,
  table_format,
}: {
  readonly include?: readonly Include[] | undefined;
  readonly chunks?: z.output<typeof chunksIn> | undefined;
  readonly table_format: 'markdown' | 'html';
}) => ({
  blocks: include.includes('blocks'),
  pageMarkdown: include.includes('page_markdown'),
  proposedSchema: include.includes('proposed_schema'),
  ...(include.includes('chunks') && { chunks: chunkWishOf(chunks ?? chunksIn.parse({})) }),
  ...(include.includes('codes') && { codes: true }),
  ...(include.includes('tables') && { tableRows: true }),
  tables: table_format,
});

export const toMarkdownForm = z
  .strictObject({
    conversion_mode: z.enum(['default', 'fast']).default('default'),
    include: includeText.optional().meta({ description: INCLUDE }),
    chunks: chunksText.optional(),
    table_format: tableFormatIn,
    source_url: sourceUrlIn.optional(),
    ...openingFields,
    ...scope,
    ...channelFields('ocr'),
  })
  .meta({ id: 'ToMarkdownForm' });

export const cost = z
  .strictObject({
    credits_used: creditsOut,
    pages: z.int(),
    balance_remaining: creditsOut.nullable().meta({ description: 'null for keys that are not billed.' }),
  })
  .meta({ id: 'Cost' });

const points = z.number().nullable().meta({
  description: 'In points, measured as boxes on the page are; null for formats without geometry.',
});

export const page = z
  .strictObject({
    page: z.int().meta({ description: 'Starts at 1.' }),
    status: z.enum(['ok', 'partial', 'empty', 'failed', 'skipped']).meta({
      description:
        '`partial`: some of it could not be read; `empty`: it has no content; `skipped`: the mode does not read it.',
    }),
    source: z.enum(['text', 'recognised', 'both']),
    detail: z.string().nullable().meta({
      description: 'Why the status is not `ok`; for an `ok` page: how a doubtful text layer was treated.',
    }),
    width: points,
    height: points,
    rotation: z
      .union([z.literal(0), z.literal(90), z.literal(180), z.literal(270)])
      .meta({ description: 'Degrees by which the page is turned clockwise before boxes are measured.' }),
  })
  .meta({ id: 'PageSummary' });

const readBy = z
  .strictObject({
    engine: z.array(z.string()).meta({ description: 'Read surely by the engine; no model was asked.' }),
    model: z.array(z.string()).meta({ description: 'Read only by the model, or differently by it.' }),
    both: z.array(z.string()).meta({ description: 'Read by both, independently, with the same result.' }),
  })
  .meta({ id: 'ReadBy', description: 'JSON Pointers into `result`, to members and to whole lists.' });

export const validationErrorItem = z
  .strictObject({
    path: z.string(),
    keyword: z.string(),
    message: z.string(),
    params: z.record(z.string(), z.unknown()),
    actual: z.unknown(),
  })
  .meta({ id: 'OutputValidationError' });

export const warning = z
  .strictObject({
    code: z.string().meta({
      description:
        '`no_text_found`; `hidden_text` was left out; `garbled_text`: the fonts of pages do not say which letters ' +
        'they draw; `page_failed`; `not_computed`: cells of a workbook have formulas without values; ' +
        '`deadline_reached`: time ran out, so `pages` were not read, or `paths` not ' +
        'searched; `pages_not_answered`: a model gave nothing for `pages`; `codes_not_read`: no codes were ' +
        'looked for on `pages`; `pages_not_shown`: a model was not shown ' +
        '`pages`, because nothing pointed to them; `low_confidence`; `inexact_number`: digits that a number cannot ' +
        'hold were left out; `balance_off`: a balance of an account is not what its rows come to; ' +
        '`not_grounded`; `merged`: parts of a long document gave `value` more than once; ' +
        '`contradicted`: another part gave `value`; `readings_differ`: the embedded engine read `value`, but the ' +
        'answer has a model’s other value, or the page says `value`, but the invoice that lies in the file as data ' +
        'says the answer; `own_key_not_used`; `nothing_found`: no field has a value, and why; ' +
        '`other_type`: the file is not what its name says. More may be added.',
    }),
    message: z.string(),
    path: z.string().optional().meta({
      description:
        'For a value that was left out or read differently: JSON Pointer into `result`; for an item, to its list.',
    }),
    value: z
      .unknown()
      .optional()
      .meta({ description: 'For a value that was left out or read differently: the value as read.' }),
    text: z.string().optional(),
    page: z.int().optional(),
    bbox: z.array(z.number()).length(4).nullish().meta({ description: 'Points, from the top left.' }),
    confidence: z.number().min(0).max(1).optional(),
    pages: z.array(z.int()).optional().meta({ description: 'Pages that were not read, shown or answered.' }),
    paths: z.array(z.string()).optional().meta({
      description: 'JSON Pointers into `result` to values that were not searched for; the first 100.',
    }),
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
      read_by: readBy.nullable().meta({
        description: 'Present if a model was asked only for doubtful fields (`models_for`); else null.',
      }),
      checks: z
        .array(checkOutcome)
        .optional()
        .meta({ description: 'What came of the rules of the config; left out if it has none.' }),
      duplicates: z.array(duplicateOut).optional().meta({
        description: 'Earlier documents that are the same; left out if the config tells none.',
      }),
      origins: originsOut.optional(),
    }),
  })
  .meta({ id: 'ExtractionResult' });

export const markdownResponse = z
  .strictObject({
    markdown: z.string(),
    plain_text: z.string(),
    pages: z.array(pageContents).optional().meta({ description: 'What `include` asks for, page by page.' }),
    proposed_schema: z.record(z.string(), z.unknown()).optional().meta({
      description: 'If `include` asks for it: a JSON Schema of the labels and table headers found.',
    }),
    codes: z.array(codeOut).optional().meta({
      description: 'If `include` asks for it, page by page; at most 255 a page.',
    }),
    chunks: z.array(chunkOut).optional().meta({ description: 'If `include` asks for it, in reading order.' }),
    tables: z.array(tableOut).optional().meta({ description: 'If `include` asks for it, in reading order.' }),
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
    tags: tagsIn.optional(),
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
  ...extractionIn,
  file_name: orAbsent(plainText(1, 255)),
  tags: tagsIn.optional(),
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
  cursor: plainText(1, 1000).optional(),
});

/** Payload of `inference.to_markdown`: as `/v1/ocr/to-markdown` has it, or the fields of the form. */
export const toMarkdownPayload = z.strictObject({
  mode: z.enum(['default', 'fast']).optional(),
  conversion_mode: z.enum(['default', 'fast']).optional(),
  file_name: orAbsent(plainText(1, 255)),
  tags: tagsIn.optional(),
  ...openingFields,
  ...renderFields,
  ocr: ocrChannelIn.nullish(),
  ...channelFields('ocr'),
});
