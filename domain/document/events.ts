import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { instant, pages, tenantId } from '../kernel/units.ts';

/** A document that the service has seen. No content, only what identifies and measures it. */
export const documentRegistered = event('DocumentRegistered', {
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

export const documentEvent = z.discriminatedUnion('type', [documentRegistered]);
export type DocumentEvent = z.output<typeof documentEvent>;

export const documentStream = (documentId: string): string => `document-${documentId}`;
