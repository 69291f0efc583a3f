import { textOf, textOrNull, wholeOf } from '../engine/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';

/** A document as lists show it. */
export interface DocumentRow {
  readonly document_id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly task_id: string;
  readonly file_name: string | null;
  readonly mime_type: string;
  readonly bytes: number;
  readonly pages: number;
  readonly sha256: string;
  readonly source: string;
  readonly created_at: string;
}

const rowOf = (row: SqlRow): DocumentRow => ({
  document_id: textOf(row, 'document_id'),
  tenant_id: textOf(row, 'tenant_id'),
  project_id: textOf(row, 'project_id'),
  task_id: textOf(row, 'task_id'),
  file_name: textOrNull(row, 'file_name'),
  mime_type: textOf(row, 'mime_type'),
  bytes: wholeOf(row, 'bytes'),
  pages: wholeOf(row, 'pages'),
  sha256: textOf(row, 'sha256'),
  source: textOf(row, 'source'),
  created_at: textOf(row, 'created_at'),
});

export const documentById =
  (sql: SqlTx) =>
  async (documentId: string): Promise<DocumentRow | undefined> =>
    (await sql.query('select * from read.documents where document_id = $1', [documentId])).map(rowOf)[0];

/** Those of the documents that are known. */
export const documentsByIds =
  (sql: SqlTx) =>
  async (documentIds: readonly string[]): Promise<readonly DocumentRow[]> =>
    (await sql.query('select * from read.documents where document_id = any($1::text[])', [documentIds])).map(
      rowOf,
    );
