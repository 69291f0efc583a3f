import { isDocumentId, uploadKeyOf } from '../../../domain/document/uploads.ts';
import type { CommandMeta } from '../../../domain/kernel/command.ts';
import type { ObjectStore } from '../../../domain/ports/objectStore.ts';
import type { Documents } from './documents.ts';
import type { UploadStock } from './uploadStock.ts';
import { ownUpload, type OwnUpload, type UploadReader } from './uploads.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';

export interface RemoveUploadDeps {
  readonly documents: Documents;
  readonly objects: Pick<ObjectStore, 'remove'>;
  readonly stock: Pick<UploadStock, 'forget'>;
  /** Those of the documents that a training job learns from and that has not ended. */
  readonly learnedNow: (
    documents: readonly { readonly document_id: string; readonly tenant_id: string }[],
  ) => Promise<ReadonlySet<string>>;
  /** Waits until the read models have what was written for the tenant up to there. */
  readonly settle: (tenantId: string, position: bigint | undefined) => Promise<void>;
}

const inUse = (): WorkProblem =>
  workProblem(
    'document_in_use',
    'A training job learns from this document. Remove it once the job has ended, or cancel the job.',
  );

const recorded = async (
  { documents, learnedNow, settle }: RemoveUploadDeps,
  { presigned: { document_id, tenant_id } }: OwnUpload,
  meta: CommandMeta,
): Promise<WorkProblem | undefined> => {
  await settle(tenant_id, undefined);
  if ((await learnedNow([{ document_id, tenant_id }])).has(document_id)) return inUse();
  const data = { document_id, tenant_id, reason: 'asked', removed_at: meta.now } as const;
  const outcome = await documents.record({ type: 'UploadRemoved', data }, meta);
  if (outcome.kind !== 'done')
    return workProblem('busy', 'The event log did not take it in time. Send the request again in a moment.');
  await settle(tenant_id, outcome.position);
  return undefined;
};

/**
 * Removes the file of an upload for good, or closes its URL when none came. It is written down first: what a
 * failure leaves in storage is refused to everybody, and removed by the repeat or by the sweeper. Work that
 * has the file already ends with it.
 */
export const removeUpload =
  (deps: RemoveUploadDeps) =>
  async (by: UploadReader, documentId: string, meta: CommandMeta): Promise<WorkProblem | undefined> => {
    const own = await ownUpload(deps.documents, by, isDocumentId(documentId) ? documentId : undefined);
    if (own.kind === 'problem') return own;
    const refused = own.removed === null ? await recorded(deps, own, meta) : undefined;
    if (refused !== undefined) return refused;
    await deps.objects.remove(uploadKeyOf(documentId));
    deps.stock.forget(own.presigned.tenant_id, documentId);
    return undefined;
  };
