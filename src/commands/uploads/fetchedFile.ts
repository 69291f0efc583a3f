import type { KnownDocument, ReceivedFile } from '../work/work.ts';
import type { WorkProblem } from '../work/workProblem.ts';
import type { Uploads } from './uploads.ts';

/** What work is done on, and where it is booked. */
export interface WorkSubject {
  readonly file: ReceivedFile;
  /** Left out: a new document. */
  readonly document?: KnownDocument;
  readonly project_id: string;
  readonly task_id: string;
}

/** A document that was presigned and uploaded, by one of its references, and where work on it is booked. */
export interface FetchRequest extends Pick<WorkSubject, 'project_id' | 'task_id'> {
  readonly tenant_id: string;
  readonly file_uri?: string | undefined;
  readonly document_id?: string | undefined;
  /** Instead of the name that it was presigned with. */
  readonly file_name?: string | undefined;
  readonly source: KnownDocument['source'];
}

/** Does work on a document's file, which lies on the local disk while it runs. */
export const withFetched = async <T>(
  uploads: Uploads,
  { tenant_id, file_uri, document_id, file_name, source, project_id, task_id }: FetchRequest,
  work: (subject: WorkSubject) => Promise<T>,
): Promise<T | WorkProblem> => {
  const fetched = await uploads.fetch({ tenant_id, allTenants: false }, { file_uri, document_id });
  if (fetched.kind === 'problem') return fetched;
  const { file, document } = fetched;
  try {
    return await work({
      file: { ...file, file_name: file_name ?? document.file_name },
      document: { document_id: document.document_id, source },
      project_id,
      task_id,
    });
  } finally {
    await file.discard();
  }
};
