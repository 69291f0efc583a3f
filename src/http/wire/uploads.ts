import { z } from 'zod';
import {
  booleanText,
  fromBoundary,
  instantOut,
  pageOf,
  pagingQuery,
  plainText,
  tenantIdText,
  wholeNumberText,
} from './basics.ts';

export const documentId = z.string().min(1).max(100);
const fileUri = z.string().min(1).max(200).meta({ description: 'As `POST /v1/uploads/presign` gave it.' });

export const presignRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    file_name: plainText(1, 255).meta({
      description: 'The name of the file; its ending is a hint of its type.',
    }),
    content_type: z
      .string()
      .max(200)
      .regex(/^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(\s*;[\x20-\x7e]*)?$/i, 'Expected a media type.')
      .optional()
      .meta({ description: 'The `Content-Type` of the upload; it has to be sent as said here.' }),
    bytes: z.int().min(1).optional().meta({ description: 'The size of the file: no more is taken.' }),
    kind: z.enum(['document', 'dataset']).default('document'),
    project_id: plainText(1, 128).default('default'),
    task_id: plainText(1, 128).default('default'),
  })
  .meta({ id: 'PresignUploadRequest' });

export const presignResponse = z
  .strictObject({
    upload_url: z.string().meta({ description: 'Takes one file, without a key, until `expires_at`.' }),
    method: z.literal('PUT'),
    headers: z.record(z.string(), z.string()).meta({ description: 'To be sent with the file.' }),
    file_uri: z.string().meta({ description: 'Opaque: the name of the file in later requests.' }),
    document_id: z.string(),
    dataset_id: z.string().nullable().meta({ description: 'null unless `kind` is `dataset`.' }),
    expires_at: instantOut,
  })
  .meta({ id: 'PresignUploadResponse' });

/** What the service put into the URL. Whatever is wrong with it is the signature's matter. */
export const uploadQuery = z.object({
  expires: z.string().default('').meta({ description: 'Seconds since 1970.' }),
  content_type: z.string().default(''),
  max_bytes: z.string().default(''),
  signature: z.string().default(''),
});

const source = z.enum(['extract', 'to_markdown', 'upload', 'canonical', 'training']);

export const documentsQuery = z.object({
  tenant_id: tenantIdText,
  project_id: plainText(1, 128).optional(),
  task_id: plainText(1, 128).optional(),
  source: source.optional(),
  created_after: fromBoundary.optional(),
  exclude_default_scope: booleanText.default(false),
  ...pagingQuery,
  limit: wholeNumberText(1, 1000).default(200),
});

const documentItem = z
  .strictObject({
    document_id: z.string(),
    tenant_id: z.string(),
    project_id: z.string(),
    task_id: z.string(),
    file_name: z.string().nullable(),
    mime_type: z.string(),
    bytes: z.int(),
    pages: z.int(),
    sha256: z.string(),
    source: z.string().meta({ description: 'What used the document first.' }),
    created_at: instantOut,
    removed_at: instantOut
      .nullable()
      .meta({ description: 'When its upload was removed; null while it is kept.' }),
  })
  .meta({ id: 'DocumentItem' });

export const documentList = pageOf(documentItem, 'DocumentListResponse');

export const pageCountRequest = z
  .strictObject({
    documents: z
      .array(
        z
          .strictObject({ document_id: documentId.optional(), file_uri: fileUri.optional() })
          .refine(
            (named) => (named.document_id === undefined) !== (named.file_uri === undefined),
            'Name a document by document_id or by file_uri, one of the two.',
          ),
      )
      .min(1)
      .max(100),
  })
  .meta({ id: 'PageCountRequest' });

const pageCountItem = z
  .strictObject({
    document_id: z.string().nullable(),
    file_uri: z.string().nullable().meta({ description: 'null for a document that came with a request.' }),
    status: z.enum(['ok', 'not_found', 'not_uploaded', 'unsupported']),
    pages: z.int().nullable().meta({
      description: 'As they are billed. With `unsupported`: the pages of a document that has too many.',
    }),
    mime_type: z.string().nullable(),
  })
  .meta({ id: 'PageCountItem' });

export const pageCountResponse = z
  .strictObject({
    items: z.array(pageCountItem).meta({ description: 'In the order of the request.' }),
    total_pages: z.int().meta({ description: 'Of the items that are `ok`.' }),
  })
  .meta({ id: 'PageCountResponse' });
