import { rowReader, wholeOf } from '../engine/apply/columns.ts';
import { listing, paging, telling, type Page } from '../engine/query.ts';
import { omit } from '../engine/table.ts';
import { documents } from './documents.schema.ts';

/** A document as lists show it. */
const rowOf = rowReader(omit(documents.columns, 'position'));

/** The known ones among the documents. */
export const documentsByIds = listing(
  'select * from read.documents where document_id = any($1::text[])',
  (documentIds: readonly string[]) => [documentIds],
  rowOf,
);

/** Bytes of the files that a tenant uploaded and used, and that are still kept. */
export const uploadedBytesOfTenant = telling(
  `select coalesce(sum(bytes), 0)::int8 as bytes from read.documents
   where tenant_id = $1 and source in ('upload', 'canonical') and removed_at is null`,
  (tenantId: string) => [tenantId],
  (row) => wholeOf(row, 'bytes'),
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
  { chosen: CHOSEN, order: 'position desc' },
  (query: DocumentsQuery) => [
    ...[query.tenant_id, query.project_id ?? null, query.task_id ?? null, query.source ?? null],
    ...[query.created_after ?? null, query.exclude_default_scope],
  ],
  rowOf,
);
