import { z } from 'zod';
import { billingType, extractionMode } from '../account/words.ts';
import { instant, pages, tenantId } from '../kernel/units.ts';

/** The work was asked for: measured work, it carries no price. */
export const requestedMembers = {
  tenant_id: tenantId,
  project_id: z.string(),
  task_id: z.string(),
  document_id: z.string(),
  document_sha256: z.string(),
  mode: extractionMode,
  /** Of the first hold. Work that is held anew, as its own key was never used, is billed as its burn says. */
  billing_type: billingType,
  model: z.string(),
  ocr_model: z.string().nullable(),
  pages,
  hold_id: z.string().nullable(),
  api_key_id: z.string(),
  requested_at: instant,
};

export const completedMembers = {
  tenant_id: tenantId,
  status: z.enum(['success', 'partial']),
  pages,
  free_pages: pages,
  duration_ms: z.number().int().min(0),
  completed_at: instant,
};

export const failedMembers = {
  tenant_id: tenantId,
  /** The problem code that the caller got. */
  code: z.string(),
  failed_at: instant,
};
