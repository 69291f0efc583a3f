import { isProblem, type Run } from '@quire/client';
import { connection } from '../api/send.ts';
import { api } from '../api/connection.ts';
import { playground } from '../texts/playground.ts';
import { errorOf } from '../../../sdk/src/problemError.ts';
import { fileIsSent } from './reading.ts';

/** Work of an earlier day, with its document if that is kept. */
export interface KeptRun {
  readonly run: Run;
  /** Without bytes where the service does not keep it. */
  readonly file: File;
  readonly isFileKept: boolean;
}

/** The file of an upload; undefined: it is not kept. */
const bytesOf = async (documentId: string, signal: AbortSignal): Promise<Blob | undefined> => {
  const response = await connection.fetch(
    `${connection.url}/v1/documents/${encodeURIComponent(documentId)}/file`,
    { signal },
  );
  if (response.ok) return response.blob();
  const error = await errorOf(response);
  if (isProblem(error) && error.status === 404) return undefined;
  throw error;
};

/** A document that the service has, as a file of this browser. */
export const keptFile = async (
  { tenant_id, document_id }: { readonly tenant_id: string; readonly document_id: string },
  { file_name, mime_type }: Pick<Run, 'file_name' | 'mime_type'>,
  signal: AbortSignal,
): Promise<Pick<KeptRun, 'file' | 'isFileKept'>> => {
  const bytes = await bytesOf(document_id, signal);
  const type = { type: mime_type ?? '' };
  const file = new File(bytes === undefined ? [] : [bytes], file_name ?? playground.unnamed, type);
  if (bytes !== undefined) fileIsSent(file, { tenant_id, document_id });
  return { file, isFileKept: bytes !== undefined };
};

/** A run by its ID or that of its operation, with its document. */
export const keptRun = async (id: string, signal: AbortSignal): Promise<KeptRun> => {
  const run = await api.getRun({ path: { run_id: id } }, { signal });
  const { tenant_id, document_id } = run;
  if (document_id === null) return { run, file: new File([], playground.unnamed), isFileKept: false };
  return { run, ...(await keptFile({ tenant_id, document_id }, run, signal)) };
};
