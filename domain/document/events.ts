import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { instant, pages, tenantId } from '../kernel/units.ts';

/** A document that a client may upload until `expires_at`. A dataset has an ID of its own too. */
const uploadPresigned = event('UploadPresigned', {
  document_id: z.string(),
  tenant_id: tenantId,
  project_id: z.string(),
  task_id: z.string(),
  file_name: z.string().nullable(),
  content_type: z.string().nullable(),
  /** As the client said; null: not said. */
  bytes: z.number().int().min(0).nullable(),
  kind: z.enum(['document', 'dataset']),
  dataset_id: z.string().nullable(),
  expires_at: instant,
  created_at: instant,
});
export type UploadPresigned = z.output<typeof uploadPresigned>;

/** A document that the service has seen. No content, only what identifies and measures it. */
const documentRegistered = event('DocumentRegistered', {
  document_id: z.string(),
  tenant_id: tenantId,
  project_id: z.string(),
  task_id: z.string(),
  file_name: z.string().nullable(),
  mime_type: z.string(),
  bytes: z.number().int().min(0),
  pages,
  sha256: z.string(),
  source: z.enum(['extract', 'to_markdown', 'upload', 'canonical', 'training']),
  created_at: instant,
});

export type DocumentRegistered = z.output<typeof documentRegistered>;

/** The file of an upload is gone from storage, or about to be. What was billed for the document stays. */
const uploadRemoved = event('UploadRemoved', {
  document_id: z.string(),
  tenant_id: tenantId,
  /** Asked for by a caller, or kept for as long as uploads are. */
  reason: z.enum(['asked', 'retention']),
  removed_at: instant,
});
export type UploadRemoved = z.output<typeof uploadRemoved>;

export const documentEvent = z.discriminatedUnion('type', [
  uploadPresigned,
  documentRegistered,
  uploadRemoved,
]);
export type DocumentEvent = z.output<typeof documentEvent>;

export const documentStream = (documentId: string): string => `document-${documentId}`;
