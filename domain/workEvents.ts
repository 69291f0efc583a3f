import { z } from 'zod';
import { billingType, extractionMode, type RatedOperation } from './account/messages.ts';
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

/** The saved config that completed the request; left out without one, and by older releases. */
const completedBy = {
  config_id: z.string().optional(),
  config_version: z.number().int().min(1).optional(),
  /** The versions of tables that its look-ups use; left out where there are none. */
  lookup_tables: z
    .array(z.strictObject({ table_id: z.string(), version: z.number().int().min(1) }))
    .optional(),
};

const completedMembers = {
  tenant_id: tenantId,
  status: z.enum(['success', 'partial']),
  pages,
  free_pages: pages,
  duration_ms: z.number().int().min(0),
  /** Of work that is not billed, which no burn tells of: the digest of its result; left out: it is not kept. */
  result_sha256: z.string().optional(),
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
  ...completedBy,
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

/** The work was asked for. A usage event: measured work, it carries no price. */
const classificationRequested = event('ClassificationRequested', {
  classification_id: z.string(),
  ...requestedMembers,
});

const classificationCompleted = event('ClassificationCompleted', {
  classification_id: z.string(),
  ...completedMembers,
});

const classificationFailed = event('ClassificationFailed', {
  classification_id: z.string(),
  ...failedMembers,
});

export const classificationEvent = z.discriminatedUnion('type', [
  classificationRequested,
  classificationCompleted,
  classificationFailed,
]);

/** The work was asked for. A usage event: measured work, it carries no price. */
const splitRequested = event('SplitRequested', { split_id: z.string(), ...requestedMembers });

const splitCompleted = event('SplitCompleted', { split_id: z.string(), ...completedMembers });

const splitFailed = event('SplitFailed', { split_id: z.string(), ...failedMembers });

export const splitEvent = z.discriminatedUnion('type', [splitRequested, splitCompleted, splitFailed]);

/**
 * What each kind of work on a document is called: its events and the member of them that has its ID, its streams, how
 * its IDs begin, its name in URLs and in read models.
 */
export const WORKS = {
  extract: {
    event: 'Extraction',
    id: 'extraction_id',
    stream: 'extraction',
    prefix: 'ext',
    endpoint: 'extract',
    kind: 'extraction',
  },
  to_markdown: {
    event: 'Conversion',
    id: 'conversion_id',
    stream: 'conversion',
    prefix: 'cnv',
    endpoint: 'to-markdown',
    kind: 'conversion',
  },
  classify: {
    event: 'Classification',
    id: 'classification_id',
    stream: 'classification',
    prefix: 'cls',
    endpoint: 'classify',
    kind: 'classification',
  },
  split: {
    event: 'Split',
    id: 'split_id',
    stream: 'split',
    prefix: 'spl',
    endpoint: 'split',
    kind: 'split',
  },
} as const satisfies Readonly<Record<RatedOperation, Readonly<Record<string, string>>>>;

type Works = (typeof WORKS)[RatedOperation];
type Kind = Works['kind'];
export type WorkPrefix = Works['prefix'];
/** The name of a kind of work in URLs. */
export type WorkEndpoint = Works['endpoint'];
export type WorkRequestedType = `${Works['event']}Requested`;
export type WorkCompletedType = `${Works['event']}Completed`;
export type WorkFailedType = `${Works['event']}Failed`;

const ALL: readonly (Works & { readonly operation: RatedOperation })[] = Object.entries(WORKS).map(
  ([operation, work]) => ({ operation: operation as RatedOperation, ...work }),
);

const found = (is: (work: (typeof ALL)[number]) => boolean): (typeof ALL)[number] => {
  const work = ALL.find(is);
  if (work === undefined) throw new Error('there is no such kind of work');
  return work;
};

/** The prefixes of all kinds of work on documents. */
export const WORK_ID_PREFIXES: readonly WorkPrefix[] = ALL.map(({ prefix }) => prefix);

/** Whether an ID is that of work on a document. */
export const isWorkId = (id: string): boolean =>
  WORK_ID_PREFIXES.some((prefix) => id.startsWith(`${prefix}_`));

export const operationOfEndpoint = (endpoint: WorkEndpoint): RatedOperation =>
  found((work) => work.endpoint === endpoint).operation;

/** By how a read model names it. */
export const operationOfKind = (kind: string): RatedOperation =>
  found((work) => work.kind === kind).operation;

/** By how its ID begins. */
export const operationOfWorkId = (id: string): RatedOperation =>
  found(({ prefix }) => id.startsWith(`${prefix}_`)).operation;

/** The data of a usage event by the member that has the work's ID. */
export type UsageData =
  | { readonly extraction_id: string }
  | { readonly conversion_id: string }
  | { readonly classification_id: string }
  | { readonly split_id: string };

/** What work a usage event is of. */
export const workOfUsage = (data: UsageData): { readonly id: string; readonly kind: Kind } => {
  if ('extraction_id' in data) return { id: data.extraction_id, kind: 'extraction' };
  if ('conversion_id' in data) return { id: data.conversion_id, kind: 'conversion' };
  if ('classification_id' in data) return { id: data.classification_id, kind: 'classification' };
  return { id: data.split_id, kind: 'split' };
};

const typesOf = <End extends 'Requested' | 'Completed' | 'Failed'>(end: End) =>
  ALL.map(({ event: name }) => `${name}${end}` as const);
export const WORK_REQUESTED: readonly WorkRequestedType[] = typesOf('Requested');
export const WORK_COMPLETED: readonly WorkCompletedType[] = typesOf('Completed');
export const WORK_FAILED: readonly WorkFailedType[] = typesOf('Failed');

export const isWorkRequested = <E extends { readonly type: string }>(
  one: E,
): one is Extract<E, { readonly type: WorkRequestedType }> =>
  WORK_REQUESTED.some((type) => type === one.type);
export const isWorkCompleted = <E extends { readonly type: string }>(
  one: E,
): one is Extract<E, { readonly type: WorkCompletedType }> =>
  WORK_COMPLETED.some((type) => type === one.type);
export const isWorkFailed = <E extends { readonly type: string }>(
  one: E,
): one is Extract<E, { readonly type: WorkFailedType }> => WORK_FAILED.some((type) => type === one.type);

/** The stream of a piece of work. */
export const workStream = (operation: RatedOperation, id: string): string =>
  `${WORKS[operation].stream}-${id}`;

export type ExtractionEvent = z.output<typeof extractionEvent>;

type Members<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>;

export const extractionStream = (extractionId: string): string => `extraction-${extractionId}`;

/** What happened to work on a document, and the members of its event that all kinds have. */
export type UsageFact =
  | { readonly happened: 'Requested'; readonly data: Members<typeof requestedMembers & typeof completedBy> }
  | { readonly happened: 'Completed'; readonly data: Members<typeof completedMembers> }
  | { readonly happened: 'Failed'; readonly data: Members<typeof failedMembers> };

export interface UsageState {
  readonly requested: Members<typeof requestedMembers & typeof completedBy> | null;
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

/** The event as all kinds have it: its codec has checked it against the schema of its type. */
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
