import { flagOf, omit, type Projector, rowReader, table, textOf } from './engine/table.ts';
import { inserting, updating } from './engine/bulk.ts';
import { only } from './engine/ports.ts';
import { listing, type Page, paging, telling } from './engine/query.ts';

/**
 * Documents that the service has seen: what identifies and measures them. `removed_at`: its upload is gone;
 * `erased_at`: so are its results and its name.
 */
export const documents = table({
  name: 'documents',
  key: ['document_id'],
  columns: {
    document_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    project_id: 'sorted',
    task_id: 'sorted',
    file_name: 'text?',
    mime_type: 'text',
    bytes: 'int8',
    pages: 'int8',
    sha256: 'text',
    source: 'text',
    created_at: 'text',
    removed_at: 'text?',
    erased_at: 'text?',
  },
  indexes: ['(tenant_id, position desc)', '(document_id) where erased_at is not null'],
});

const register = inserting(documents, {
  columns: omit(documents.columns, 'removed_at', 'erased_at'),
  firstStands: true,
});
const remove = updating(documents, 'document_id', 'removed_at');
const erase = updating(documents, 'document_id', 'file_name', 'erased_at');

/**
 * Registered documents; the first registration of an ID stands. A document is registered before its upload is
 * removed or it is erased, or that is said again after it.
 */
export const documentsProjector: Projector = {
  name: 'documents',
  version: 3,
  eventTypes: ['DocumentRegistered', 'UploadRemoved', 'DocumentErased'],
  tables: [documents],
  apply: async (tx, { schema, events }) => {
    const rows = only(events, 'DocumentRegistered').map(({ data, position }) => ({ ...data, position }));
    const gone = new Map(only(events, 'UploadRemoved').map(({ data }) => [data.document_id, data]));
    await register(tx, schema, rows);
    const erased = new Map(only(events, 'DocumentErased').map(({ data }) => [data.document_id, data]));
    await remove(tx, schema, [...gone.values()]);
    await erase(
      tx,
      schema,
      [...erased.values()].map((data) => ({ ...data, file_name: null })),
    );
  },
};

/** A document as lists show it. */
const rowOf = rowReader(omit(documents.columns, 'position'));

/** The known ones among the documents. */
export const documentsByIds = listing(
  'select * from read.documents where document_id = any($1::text[])',
  (documentIds: readonly string[]) => [documentIds],
  rowOf,
);

/** Bytes of the files that a tenant uploaded and used, and that are still kept; `used`: those of `ids` among them. */
export const uploadedBytesOfTenant = telling(
  `select coalesce(sum(bytes), 0)::int8 as bytes,
     string_agg(document_id, ' ') filter (where document_id = any($2::text[])) as used
   from read.documents
   where tenant_id = $1 and source in ('upload', 'canonical') and removed_at is null`,
  (tenantId: string, ids: readonly string[]) => [tenantId, ids],
  rowReader({ bytes: 'int8', used: 'text?' }),
);

/** Which documents of a tenant to list. `created_after` is inclusive. */
interface DocumentsQuery extends Page {
  readonly tenant_id: string;
  readonly project_id?: string | undefined;
  readonly task_id?: string | undefined;
  readonly source?: string | undefined;
  readonly created_after?: string | undefined;
  /** Leaves out project `default` with task `default`. */
  readonly exclude_default_scope: boolean;
}

const CHOSEN = `from read.documents
  where tenant_id = $1
    and ($2::text is null or project_id = $2)
    and ($3::text is null or task_id = $3)
    and ($4::text is null or source = $4)
    and ($5::text is null or created_at >= $5)
    and not ($6::bool and project_id = 'default' and task_id = 'default')`;

/** A tenant's documents, newest first, and how many there are in all. */
export const documentsOfTenant = paging(
  { name: 'documents', chosen: CHOSEN },
  (query: DocumentsQuery) => [
    query.tenant_id,
    query.project_id ?? null,
    query.task_id ?? null,
    query.source ?? null,
    query.created_after ?? null,
    query.exclude_default_scope,
  ],
  rowOf,
);

/** Whether any document was ever erased. */
export const anyErased = telling(
  'select exists (select 1 from read.documents where erased_at is not null) as any_erased',
  () => [],
  (row) => flagOf(row, 'any_erased'),
);

/** Those of the documents, and of extractions and conversions, whose document is erased. */
export const erasedAmong = listing(
  `select document_id as name from read.documents where erased_at is not null and document_id = any($1::text[])
   union select e.id from read.usage_events e join read.documents d on d.document_id = e.document_id
   where d.erased_at is not null and e.id = any($1::text[])`,
  (names: readonly string[]) => [names],
  (row) => textOf(row, 'name'),
);

/** The erased documents of training jobs. */
export const erasedOfJobs = listing(
  `select t.job_id, t.tenant_id, d.document_id from read.training_documents t
   join read.documents d on d.tenant_id = t.tenant_id and t.document_id in (d.document_id, '')
   where d.erased_at is not null and t.job_id = any($1::text[])`,
  (jobIds: readonly string[]) => [jobIds],
  rowReader({ job_id: 'sorted', tenant_id: 'sorted', document_id: 'sorted' }),
);
