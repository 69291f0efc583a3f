import { ratedOperation } from '../../domain/account/messages.ts';
import { workFailure } from '../server/problems.ts';
import type { countPages as count } from '../commands/countPages.ts';
import type { eraseDocument as erasure, removeUpload as removal } from '../commands/erasing.ts';
import type { eraseTenant as tenantErasing } from '../commands/eraseTenant.ts';
import type { presignUpload as presign, UploadReceiver } from '../commands/uploads.ts';
import type { openUpload as opening } from '../commands/fetchUpload.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import { z } from 'zod';
import {
  booleanText,
  fromBoundary,
  toBoundary,
  instantOut,
  pageFacts,
  pageOf,
  listQuery,
  plainText,
  tenantIdText,
  wholeNumberText,
  checkKnown,
  tenantNotFound,
  tenantParams,
} from './schemas/basics.ts';
import { type ByteRequest, KEPT_A_DAY, type RawBody, routesOver } from '../server/routes.ts';
import { workerOf } from '../server/keys.ts';
import { fileUriOf } from '../../domain/document.ts';
import { baseName } from '../server/files.ts';
import { documentsOfTenant } from '../../projections/documents.ts';

/** What these routes need. */
export interface DocumentsDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'documentsOfTenant' | 'outcomesOfTenant'>;
  readonly reads: ReadYourWrites;
  readonly presign: ReturnType<typeof presign>;
  readonly receiver: UploadReceiver;
  readonly openUpload: ReturnType<typeof opening>;
  readonly removeUpload: ReturnType<typeof removal>;
  readonly eraseDocument: ReturnType<typeof erasure>;
  readonly eraseTenant: ReturnType<typeof tenantErasing>;
  readonly countPages: ReturnType<typeof count>;
}

const { get, post, put, remove } = routesOver<DocumentsDeps>();

const documentId = z.string().min(1).max(100);
const fileUri = z.string().min(1).max(200).meta({ description: 'As `POST /v1/uploads/presign` gave it.' });

const presignRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    file_name: plainText(1, 255).meta({
      description: 'The name of the file; its ending hints at its type.',
    }),
    content_type: z
      .string()
      .max(200)
      .regex(/^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(\s*;[\x20-\x7e]*)?$/i, 'Expected a media type.')
      .optional()
      .meta({ description: 'The `Content-Type` of the upload; send exactly this one with the file.' }),
    bytes: z
      .int()
      .min(1)
      .optional()
      .meta({
        description:
          'The size of the file; more bytes are not accepted. With an S3 store so much of the quota is set aside ' +
          'with the URL, and the largest upload if it is left out.',
      }),
    kind: z.enum(['document', 'dataset']).default('document'),
    project_id: plainText(1, 128).default('default'),
    task_id: plainText(1, 128).default('default'),
  })
  .meta({ id: 'PresignUploadRequest' });

const presignResponse = z
  .strictObject({
    upload_url: z.string().meta({ description: 'Accepts one file, without a key, until `expires_at`.' }),
    method: z.literal('PUT'),
    headers: z.record(z.string(), z.string()).meta({ description: 'Headers to send with the file.' }),
    file_uri: z.string().meta({ description: 'Opaque: it names the file in later requests.' }),
    document_id: z.string(),
    dataset_id: z.string().nullable().meta({ description: 'null unless `kind` is `dataset`.' }),
    expires_at: instantOut,
  })
  .meta({ id: 'PresignUploadResponse' });

/** What the service put into the URL. Whatever is wrong with it is the signature's matter. */
const uploadQuery = z.object({
  expires: z.string().default('').meta({ description: 'Seconds since 1970.' }),
  content_type: z.string().default(''),
  max_bytes: z.string().default(''),
  signature: z.string().default(''),
});

const uploadParams = z.object({ document_id: z.string() });
type UploadRequest = ByteRequest<z.output<typeof uploadParams>, z.output<typeof uploadQuery>>;

const source = z.enum([...ratedOperation.options, 'upload', 'canonical', 'training']);

const documentsQuery = z.object({
  tenant_id: tenantIdText,
  project_id: plainText(1, 128).optional(),
  task_id: plainText(1, 128).optional(),
  source: source.optional(),
  created_after: fromBoundary.optional(),
  exclude_default_scope: booleanText.default(false),
  ...listQuery(documentsOfTenant),
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
    source: z.string().meta({ description: 'What first used the document.' }),
    created_at: instantOut,
    removed_at: instantOut
      .nullable()
      .meta({ description: 'When its upload was removed; null while it is kept.' }),
    erased_at: instantOut
      .nullable()
      .meta({ description: 'When it was erased: `file_name` is null from then on; null while it is not.' }),
  })
  .meta({ id: 'DocumentItem' });

const documentList = pageOf(documentItem, 'DocumentListResponse');

const pageCountRequest = z
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
      description: 'Pages as billed. With `unsupported`: the pages of a document that has too many.',
    }),
    mime_type: z.string().nullable(),
  })
  .meta({ id: 'PageCountItem' });

const pageCountResponse = z
  .strictObject({
    items: z.array(pageCountItem).meta({ description: 'In the order of the request.' }),
    total_pages: z.int().meta({ description: 'Sum over the items that are `ok`.' }),
  })
  .meta({ id: 'PageCountResponse' });

export const countPages = post(
  '/v1/documents/page-count',
  {
    summary: 'How many pages documents have, as billed',
    description:
      'Counting is free and done once: a document that was used or counted keeps its count, and a document that ' +
      'cannot be read is remembered for a minute. A call that has to count takes a slot, like an extraction; if none ' +
      'is free, the answer is 503 `busy`. Documents of other tenants are `not_found`; service and admin keys see ' +
      'those of all tenants.',
    access: 'any',
    body: pageCountRequest,
    reply: { status: 200, schema: pageCountResponse },
    problems: ['storage_error', 'busy'],
  },
  async ({ body, caller, meta, signal }, deps) => {
    const counts = await deps.countPages({
      by: { tenant_id: caller.tenant_id, allTenants: caller.role !== 'tenant' },
      caller: workerOf(caller),
      correlation_id: meta.correlation_id,
      documents: body.documents,
      signal,
    });
    if ('kind' in counts) throw workFailure(counts);
    const total_pages = counts.reduce(
      (sum, { status, pages }) => sum + (status === 'ok' ? (pages ?? 0) : 0),
      0,
    );
    return { items: [...counts], total_pages };
  },
);

export const listDocuments = get(
  '/v1/documents',
  {
    summary: 'The documents that a tenant has used, newest first',
    description:
      'A document is listed once it was used or counted. `created_after` is inclusive; `exclude_default_scope` ' +
      'leaves out project `default` with task `default`.',
    access: 'any',
    tenant: 'query',
    serviceActsForAll: true,
    query: documentsQuery,
    reply: { status: 200, schema: documentList },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async (request, { queries }) => {
    const { tenant_id } = request.query;
    const found = await queries.documentsOfTenant(request.query);
    await checkKnown({ queries }, tenant_id, { isEmpty: found.total === 0 });
    return { items: [...found.items], ...pageFacts(request.query, found) };
  },
);

const whole = z.int().min(0);
const milliseconds = whole.nullable();

const failure = z
  .strictObject({
    id: z.string(),
    operation: ratedOperation,
    document_id: z.string(),
    pages: whole,
    problem_code: z.string(),
    failed_at: instantOut,
  })
  .meta({ id: 'FailureItem' });

const outcomes = z
  .strictObject({
    tenant_id: z.string(),
    succeeded: whole,
    partial: whole,
    failed: whole,
    running: whole,
    pages: whole,
    median_ms: milliseconds,
    p95_ms: milliseconds,
    counted_from: instantOut.nullable(),
    failures: z.array(failure),
  })
  .meta({ id: 'OutcomesResponse' });

export const getOutcomes = get(
  '/v1/documents/outcomes',
  {
    summary: "The outcomes of a tenant's extractions and conversions, and how long they took",
    description:
      'Covers those requested from `from_date` to `to_date`, both inclusive, and lists the last 20 that failed. At ' +
      'most the newest 10,000 are counted. Requests that were refused before work began are not included.',
    access: 'any',
    tenant: 'query',
    serviceActsForAll: true,
    query: z.object({
      tenant_id: tenantIdText,
      from_date: fromBoundary.optional(),
      to_date: toBoundary.optional(),
    }),
    reply: { status: 200, schema: outcomes },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ query: { tenant_id, from_date: from, to_date: to } }, { queries }) => {
    await checkKnown({ queries }, tenant_id, { isEmpty: true });
    const { failures, ...found } = await queries.outcomesOfTenant({ tenant_id, from, to });
    return { tenant_id, ...found, failures: [...failures] };
  },
);

export const presignUpload = post(
  '/v1/uploads/presign',
  {
    summary: 'A URL to upload a file to, and the reference to name it by',
    description:
      'Send the bytes with `PUT` to `upload_url` within the hour, then name the file by its `file_uri` or ' +
      '`document_id`. A file that is not used within a day is removed.',
    access: 'any',
    tenant: 'body',
    serviceActsForAll: true,
    idempotency: KEPT_A_DAY,
    body: presignRequest,
    reply: { status: 200, schema: presignResponse },
    problems: ['file_too_large', 'upload_quota_exceeded', 'busy'],
  },
  async ({ body, meta }, deps) => {
    const { tenant_id, project_id, task_id, kind } = body;
    const asked = {
      tenant_id,
      project_id,
      task_id,
      kind,
      file_name: baseName(body.file_name),
      content_type: body.content_type ?? null,
      bytes: body.bytes ?? null,
    };
    const answer = await deps.presign(asked, meta);
    if (answer.kind === 'problem') throw workFailure(answer);
    deps.reads.note(tenant_id, answer.position);
    const { document_id, dataset_id, expires_at } = answer.upload;
    return {
      upload_url: answer.target.url,
      method: 'PUT' as const,
      headers: { ...answer.target.headers },
      file_uri: fileUriOf(document_id),
      document_id,
      dataset_id,
      expires_at,
    };
  },
);

export const putUpload = put(
  '/uploads/{document_id}',
  {
    summary: 'The file of an upload URL',
    description:
      'The signature of the URL gives the permission: no key is needed, and no key replaces it (403 ' +
      '`tenant_mismatch` if the signature is wrong or has expired). A file may be sent again until it is used, one ' +
      'at a time (409 `request_in_progress`). A tenant may send 10 files a second, 100 at once, and has a storage ' +
      'quota (413 `upload_quota_exceeded`). With an S3 store the URL leads to the store, not here.',
    access: 'public',
    params: uploadParams,
    query: uploadQuery,
    bytes: {
      admit: async ({ params, query, ...headers }: UploadRequest, { receiver }: DocumentsDeps) => {
        const admission = await receiver.admit({ ...params, ...query }, headers);
        if (admission.kind === 'problem') throw workFailure(admission);
        return { bytesMax: admission.bytes_max, release: admission.release };
      },
    },
    reply: { status: 200, contentType: 'text/plain' },
    problems: [
      'tenant_mismatch',
      'version_conflict',
      'request_in_progress',
      'upload_quota_exceeded',
      'rate_limited',
      'storage_error',
    ],
  },
  async ({ params, file }, { receiver }) => {
    if (file === undefined) throw new Error('the file was not received');
    const stored = await receiver.store(params.document_id, file);
    if (stored.kind === 'problem') throw workFailure(stored);
    return { contentType: 'text/plain', body: '' };
  },
);

export const getDocumentFile = get(
  '/v1/documents/{document_id}/file',
  {
    summary: 'The file of an upload, as it was sent',
    description:
      'Its type is `mime_type` of the document. The file of a document that came with a request is not kept: 404, as ' +
      'for an upload that was removed or erased, and for another tenant’s. Service and admin keys read those of all ' +
      'tenants.',
    access: 'any',
    params: z.object({ document_id: documentId }),
    reply: { status: 200, contentType: 'application/octet-stream' },
    problems: ['document_not_found', 'missing_file', 'storage_error'],
  },
  async ({ params, caller, answer }, deps): Promise<RawBody> => {
    const by = { tenant_id: caller.tenant_id, allTenants: caller.role !== 'tenant' };
    const file = await deps.openUpload(by, params.document_id);
    if (file.kind === 'problem') throw workFailure(file);
    answer.header('Content-Disposition', 'attachment');
    return { contentType: 'application/octet-stream', body: file.bytes };
  },
);

export const eraseDocument = remove(
  '/v1/documents/{document_id}',
  {
    summary: 'Erase the content of a document',
    description:
      'This is final, wherever it is kept: its file, the results of work on it, examples that training jobs made of ' +
      'it, kept answers and its `file_name`. Its bill, its pages and its times stay, and its row in the list gets ' +
      '`erased_at`. A repeat answers the same. While work on it waits or runs, or a training job learns from it, the ' +
      'answer is 409 `document_in_use`. An artifact that learned from it stays; so do backups, and events of the ' +
      'log, which nobody can change. Another tenant’s document is 404; service and admin keys may erase those of all ' +
      'tenants.',
    access: 'any',
    params: z.object({ document_id: documentId }),
    reply: { status: 204 },
    problems: ['document_not_found', 'document_in_use', 'storage_error', 'busy'],
  },
  async ({ params, caller, meta }, deps) => {
    const by = { tenant_id: caller.tenant_id, allTenants: caller.role !== 'tenant' };
    const refused = await deps.eraseDocument(by, params.document_id, meta);
    if (refused !== undefined) throw workFailure(refused);
    return undefined;
  },
);

export const removeUpload = remove(
  '/v1/uploads/{document_id}',
  {
    summary: 'Remove the file of an upload',
    description:
      'This is final: its bytes no longer count towards the quota, its URL accepts no file, and requests that name ' +
      'it get 404. Its bill stays, as does its row in the list, with `removed_at`. A repeat answers the same. While ' +
      'a training job learns from the document, the answer is 409 `document_in_use`; once the job has ended, its ' +
      'examples are exported without the text of the document. Another tenant’s upload is 404; service and admin ' +
      'keys may remove those of all tenants.',
    access: 'any',
    params: z.object({ document_id: documentId }),
    reply: { status: 204 },
    problems: ['document_not_found', 'document_in_use', 'storage_error', 'busy'],
  },
  async ({ params, caller, meta }, deps) => {
    const by = { tenant_id: caller.tenant_id, allTenants: caller.role !== 'tenant' };
    const refused = await deps.removeUpload(by, params.document_id, meta);
    if (refused !== undefined) throw workFailure(refused);
    return undefined;
  },
);

const tenantErased = z
  .strictObject({
    tenant_id: z.string(),
    erased_at: instantOut,
    status: z.enum(['erased', 'erasing']).meta({
      description:
        '`erasing`: not finished yet; work that is being cancelled may delay it. Repeat the call to learn more.',
    }),
    left: z
      .int()
      .nullable()
      .meta({ description: 'Number of things that could not be removed yet; null: not known yet.' }),
  })
  .meta({ id: 'TenantErasedResponse' });

const anyDocument = async (
  { documentsOfTenant }: Pick<DocumentsDeps['queries'], 'documentsOfTenant'>,
  tenant_id: string,
) => (await documentsOfTenant({ tenant_id, exclude_default_scope: false, limit: 1, offset: 0 })).items[0];

export const eraseTenant = remove(
  '/v1/admin/tenants/{tenant_id}/data',
  {
    summary: 'Erase what a tenant’s people wrote and sent',
    description:
      'This is final for everything up to now: uploads, results, examples, artifacts, saved configs, webhooks, kept ' +
      'answers and names of files. The tenant’s keys are revoked, which ends their sessions, and its open work is ' +
      'cancelled. Money, pages and times stay. The order is recorded first, and the service finishes it whatever ' +
      'happens. A repeat erases what came since.',
    access: 'admin',
    tenant: 'path',
    params: tenantParams,
    reply: { status: 202, schema: tenantErased },
    problems: ['tenant_not_found', 'busy', 'storage_error'],
    reads: 'tenant',
  },
  async ({ params: { tenant_id }, meta }, { queries, eraseTenant: erase }) => {
    const hasAccount = (await queries.balanceOfTenant(tenant_id)) !== undefined;
    // Who only sent a file has no account.
    if (!hasAccount && (await anyDocument(queries, tenant_id)) === undefined) throw tenantNotFound();
    const report = await erase(tenant_id, meta);
    if ('kind' in report) throw workFailure(report);
    const { erased_at, left } = report;
    return { tenant_id, erased_at, status: left === 0 ? ('erased' as const) : ('erasing' as const), left };
  },
);
