import type { KnownDocument } from '../../commands/work/work.ts';
import type { ApiDeps } from '../apiDeps.ts';
import type { RouteRequest } from '../defineRoute.ts';
import { workFailure } from '../doneOrProblem.ts';
import type { WorkSubject } from './workFields.ts';

/** A document that was presigned and uploaded, by one of its references. */
export interface DocumentReference {
  readonly file_uri?: string | undefined;
  readonly document_id?: string | undefined;
  /** Instead of the name that it was presigned with. */
  readonly file_name?: string | undefined;
}

interface Booking {
  readonly source: KnownDocument['source'];
  readonly project_id: string;
  readonly task_id: string;
}

/** Does work on a document's file, which lies on the local disk while it runs. */
export const withFetched = async <T>(
  { deps, request }: { readonly deps: ApiDeps; readonly request: RouteRequest<unknown, unknown, unknown> },
  { file_name, ...reference }: DocumentReference,
  { booking, work }: { readonly booking: Booking; readonly work: (subject: WorkSubject) => Promise<T> },
): Promise<T> => {
  const { tenant_id } = request;
  const fetched = await deps.uploads.fetch({ tenant_id, allTenants: false }, reference);
  if (fetched.kind === 'problem') throw workFailure(fetched);
  const { file, document } = fetched;
  const { source, project_id, task_id } = booking;
  try {
    const named = { ...file, file_name: file_name ?? document.file_name };
    return await work({
      file: named,
      document: { document_id: document.document_id, source },
      project_id,
      task_id,
    });
  } finally {
    await file.discard();
  }
};
