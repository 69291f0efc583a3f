import { z } from 'zod';
import { BATCH_DOCUMENTS_MAX } from '../../../domain/batch.ts';
import { documentIdIn } from '../../../domain/document.ts';
import {
  creditsOut,
  fromBoundary,
  instantOut,
  orAbsent,
  pageOf,
  pagingQuery,
  plainText,
  tenantIdText,
  wholeNumberText,
} from './basics.ts';
import { llmChannelIn, ocrChannelIn } from './channels.ts';
import { extractModeIn, minConfidenceIn, openingFields } from './documents.ts';

/** Complaints of one list: enough to see what is wrong with it. */
const ISSUES_MAX = 10;

/** What is wrong with a list of uploads: a URI that no presign gave, or one that is there twice. */
const complaintsOf = (uris: readonly string[]): readonly (readonly [index: number, message: string])[] => {
  const places = new Map<string, number>();
  const complaints: (readonly [number, string])[] = [];
  for (const [index, uri] of uris.entries()) {
    const earlier = places.get(uri);
    if (documentIdIn(uri) === undefined)
      complaints.push([index, 'Not a file_uri that POST /v1/uploads/presign gave.']);
    else if (earlier !== undefined)
      complaints.push([index, `The same document as at ${String(earlier)}: name each once.`]);
    places.set(uri, earlier ?? index);
    if (complaints.length === ISSUES_MAX) break;
  }
  return complaints;
};

const fileUris = z
  .array(plainText(1, 500))
  .min(1)
  .max(BATCH_DOCUMENTS_MAX)
  .superRefine((uris, context) => {
    for (const [index, message] of complaintsOf(uris))
      context.addIssue({ code: 'custom', path: [index], message });
  })
  .meta({ description: 'Uploaded documents, each once, in the order in which they are answered.' });

export const batchRequest = z
  .strictObject({
    tenant_id: tenantIdText.optional().meta({ description: 'For service and admin keys; default: the own.' }),
    project_id: plainText(1, 128).default('default'),
    task_id: plainText(1, 128).default('default'),
    file_uris: fileUris,
    schema: z
      .unknown()
      .optional()
      .meta({ description: 'JSON Schema with `type: "object"` and `properties`, for each document.' }),
    mode: orAbsent(extractModeIn),
    artifact_id: orAbsent(plainText(1, 200)),
    config_id: orAbsent(plainText(1, 200)),
    allow_partial: z.boolean().default(false),
    citations: z.boolean().default(true),
    min_confidence: minConfidenceIn.optional(),
    ...openingFields,
    llm: llmChannelIn.nullish(),
    ocr: ocrChannelIn.nullish(),
  })
  .meta({ id: 'BatchRequest' });

const batchStatusOut = z.enum(['queued', 'running', 'cancelling', 'ended', 'cancelled']).meta({
  description: '`ended`: every document has its outcome. `cancelled`: so it has, and some were not begun.',
});

const facts = {
  batch_id: z.string(),
  operation: z.literal('extract'),
  tenant_id: z.string(),
  project_id: z.string(),
  task_id: z.string(),
  status: batchStatusOut,
  accepted_at: instantOut,
  started_at: instantOut.nullable(),
  finished_at: instantOut.nullable(),
};

const documentCounts = z
  .strictObject({
    total: z.int(),
    queued: z.int(),
    running: z.int(),
    succeeded: z.int(),
    partial: z.int(),
    failed: z.int(),
    cancelled: z.int(),
  })
  .meta({ id: 'BatchDocumentCounts' });

export const batchBody = z
  .strictObject({
    ...facts,
    documents: documentCounts,
    pages_done: z.int(),
    credits_used: creditsOut,
    expires_at: instantOut.meta({ description: 'From then on no document is begun.' }),
  })
  .meta({ id: 'Batch' });
export type BatchBody = z.input<typeof batchBody>;

export const cancelledBatch = batchBody
  .extend({
    cancelled: z.boolean().meta({ description: 'false when it was cancelled or had ended before.' }),
  })
  .meta({ id: 'CancelledBatch' });

export const batchParams = z.object({ batch_id: plainText(1, 128) });

export const batchResultsQuery = z.object({
  from: wholeNumberText(0, BATCH_DOCUMENTS_MAX)
    .default(0)
    .meta({ description: 'Index of the first document to answer: where an answer that broke off goes on.' }),
});

export const batchesQuery = z.object({
  tenant_id: tenantIdText,
  status: batchStatusOut.optional(),
  project_id: plainText(1, 128).optional(),
  task_id: plainText(1, 128).optional(),
  accepted_after: fromBoundary.optional(),
  ...pagingQuery,
});

export const batchList = pageOf(
  z
    .strictObject({
      ...facts,
      operation: z.string(),
      status: z.string(),
      documents: z.int(),
      begun: z.int(),
      pages_done: z.int().nullable(),
      credits_used: creditsOut.nullable(),
    })
    .meta({ id: 'BatchItem' }),
  'BatchList',
);
