import { z } from 'zod';
import { billingType, extractionMode } from './account/messages.ts';
import { instant, pages, tenantId } from './kernel/amounts.ts';
import { tagged } from './kernel/tags.ts';
import {
  accept,
  type Command,
  type Decider,
  type Decision,
  type DomainEvent,
  event,
  type StreamKind,
} from './kernel/decider.ts';

/** The work was asked for: measured work, it carries no price. */
const requestedMembers = {
  tenant_id: tenantId,
  project_id: z.string(),
  task_id: z.string(),
  document_id: z.string(),
  document_sha256: z.string(),
  mode: extractionMode,
  /** Of the hold. In logs of earlier releases a burn may differ, where an own key was never used. */
  billing_type: billingType,
  model: z.string(),
  ocr_model: z.string().nullable(),
  pages,
  hold_id: z.string().nullable(),
  api_key_id: z.string(),
  /** Digest of the request that the caller's key names. Left out without a key, and by older releases. */
  fingerprint: z.string().optional(),
  ...tagged,
  requested_at: instant,
};

const completedMembers = {
  tenant_id: tenantId,
  status: z.enum(['success', 'partial']),
  pages,
  free_pages: pages,
  duration_ms: z.number().int().min(0),
  completed_at: instant,
};

const failedMembers = {
  tenant_id: tenantId,
  /** The problem code that the caller got. */
  code: z.string(),
  failed_at: instant,
};

/** The work was asked for. A usage event: measured work, it carries no price. */
const conversionRequested = event('ConversionRequested', {
  conversion_id: z.string(),
  ...requestedMembers,
});

const conversionCompleted = event('ConversionCompleted', {
  conversion_id: z.string(),
  ...completedMembers,
});

const conversionFailed = event('ConversionFailed', { conversion_id: z.string(), ...failedMembers });

export const conversionEvent = z.discriminatedUnion('type', [
  conversionRequested,
  conversionCompleted,
  conversionFailed,
]);

/** The work was asked for. A usage event: measured work, it carries no price. */
const extractionRequested = event('ExtractionRequested', {
  extraction_id: z.string(),
  ...requestedMembers,
});

const extractionCompleted = event('ExtractionCompleted', {
  extraction_id: z.string(),
  ...completedMembers,
});

const extractionFailed = event('ExtractionFailed', { extraction_id: z.string(), ...failedMembers });

export const extractionEvent = z.discriminatedUnion('type', [
  extractionRequested,
  extractionCompleted,
  extractionFailed,
]);

export type ExtractionEvent = z.output<typeof extractionEvent>;

type Members<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>;

export const conversionStream = (conversionId: string): string => `conversion-${conversionId}`;

export const extractionStream = (extractionId: string): string => `extraction-${extractionId}`;

/** What happened to an extraction or conversion, and the members of its event that both kinds have. */
export type UsageFact =
  | { readonly happened: 'Requested'; readonly data: Members<typeof requestedMembers> }
  | { readonly happened: 'Completed'; readonly data: Members<typeof completedMembers> }
  | { readonly happened: 'Failed'; readonly data: Members<typeof failedMembers> };

export interface UsageState {
  readonly requested: Members<typeof requestedMembers> | null;
  readonly end: Exclude<UsageFact, { happened: 'Requested' }> | null;
}

export type UsageKind = StreamKind<UsageState, Command<'Record', UsageFact>, DomainEvent, never>;

/** When it ended, and whose it was; null while it has not. */
export const usageEnd = ({ end }: UsageState): { readonly at: string; readonly tenant_id: string } | null => {
  if (end === null) return null;
  const { tenant_id } = end.data;
  return { at: end.happened === 'Completed' ? end.data.completed_at : end.data.failed_at, tenant_id };
};

const HAPPENED = ['Requested', 'Completed', 'Failed'] as const;

/** The event as both kinds have it: its codec has checked it against the schema of its type. */
const factOf = ({ type, data }: DomainEvent): UsageFact =>
  ({ happened: HAPPENED.find((one) => type.endsWith(one)), data }) as unknown as UsageFact;

/**
 * Measured work is requested once, and then ends once: a repeat, or whatever comes after the end, is not written.
 * Work that ends before it was begun (it was cancelled) leaves its end alone, so that it is never requested later.
 */
export const usage = (eventOf: (fact: UsageFact) => DomainEvent): Decider<UsageKind> => ({
  initialState: { requested: null, end: null },
  decide: ({ requested, end }, { data: fact }): Decision<DomainEvent, never> => {
    if (end !== null || (fact.happened === 'Requested' && requested !== null)) return accept<DomainEvent>();
    return accept(eventOf(fact));
  },
  evolve: (state, event) => {
    const fact = factOf(event);
    if (fact.happened === 'Requested') return { ...state, requested: state.requested ?? fact.data };
    // Older logs have repeats; what was completed stays completed.
    return state.end?.happened === 'Completed' ? state : { ...state, end: fact };
  },
});
