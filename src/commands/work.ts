import { setTimeout as pause } from 'node:timers/promises';
import type { ParseEffort, ParseRequest, KeptFile } from '@quire/engine/ports/documentParser';
import type { DocumentWarning } from '@quire/engine/document/document';
import type { Ranged } from '@quire/engine/ports/extractionEngine';
import type { Keeping, ModelCall } from '@quire/engine/ports/modelWork';
import {
  type BillingType,
  type CompletionWindow,
  type DeliveredWork,
  type ExtractionMode,
  type HoldCredits,
  type PagePrice,
  type RatedOperation,
  NO_END,
} from '../../domain/account/messages.ts';
import type { BillingConfig } from '../../domain/billingConfig.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import type { Clock } from '../../domain/ports/log.ts';
import { mergedTags, type Tags, TAGS_MAX } from '../../domain/kernel/tags.ts';
import { categoryOf, ratedMode, rateOf } from '../../domain/rating.ts';
import { metaOf } from '../writer/commandMeta.ts';
import {
  heldBefore,
  holdCredits,
  type HoldDeps,
  type HoldNotOpen,
  isFree,
  type OtherHold,
  releaseHold,
  settleOnce,
} from './holds.ts';
import type { HeavySlots } from './slots.ts';
import { misfit, noPlace, type WorkProblem } from './workProblem.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { ChosenModels, ModelsByFormat, OwnKeyUse } from './models.ts';
import type { WorkEndpoint, WorkPrefix } from '../../domain/workEvents.ts';
import type { OperationTask } from './operationInput.ts';
import type { Question } from '../../domain/doubts.ts';

/** The caller, and whether they pay: service and admin keys are not billed. */
export interface Caller {
  readonly key_id: string;
  readonly role: 'tenant' | 'service' | 'admin';
  /** Tags of work that does not name others; left out: none, or the work has all of its tags already. */
  readonly tags?: Tags | undefined;
}

/** The work that a hold is placed for. */
export interface WorkToBill {
  readonly operation: RatedOperation;
  readonly operation_id: string;
  readonly tenant_id: string;
  readonly mode: ExtractionMode;
  readonly billing_type: BillingType;
  /** Left out: it may not wait. */
  readonly completion_window?: CompletionWindow | undefined;
  readonly pages: number;
  readonly project_id: string;
  readonly task_id: string;
  readonly tags?: Tags | undefined;
  readonly caller: Caller;
  readonly correlation_id: string;
  /** Digest of the request, where the caller's key names the work. */
  readonly fingerprint?: string | undefined;
}

export interface Cost {
  readonly credits_used: number;
  readonly pages: number;
  /** null for keys that are not billed. */
  readonly balance_remaining: number | null;
}

/** A hold that is open; its ID is null for work that is not billed. `free`: all pages are free ones of the tenant. */
export interface PlacedHold {
  readonly kind: 'held';
  readonly hold_id: string | null;
  readonly free: boolean;
  readonly expires_at: string | null;
  /** Who placed it, and with which tags; another key of the tenant may have been first. */
  readonly api_key_id?: string | undefined;
  readonly tags?: Tags | undefined;
}

/**
 * The tags of a request with those of its config and its key: the request's win by name, then the config's. A problem
 * where they are too many together.
 */
export const withDefaultTags = (
  own: Tags | undefined,
  { tags: ofKey }: Pick<Caller, 'tags'>,
  ofConfig?: Tags,
): { readonly kind: 'tagged'; readonly tags: Tags | undefined } | WorkProblem => {
  const tags = mergedTags(own, ofConfig, ofKey);
  const count = Object.keys(tags ?? {}).length;
  if (count <= TAGS_MAX) return { kind: 'tagged', tags };
  return misfit(
    ['body', 'tags'],
    `With the defaults of its config and key the request has ${String(count)} tags, and ${String(TAGS_MAX)} are the ` +
      'most: send fewer, or name some like the defaults, which replaces them.',
  );
};

interface Bill {
  readonly kind: 'billed';
  readonly cost: Cost;
  readonly free_pages: number;
  readonly position: bigint | undefined;
  /** The work that the burn names: another request of the key may have been first. */
  readonly delivered: DeliveredWork;
}

export interface BillingDeps extends HoldDeps {
  /** The one in force; with a version, that one. */
  readonly billingConfig: (version?: number) => Promise<BillingConfig>;
  readonly clock: Clock;
  /** The pause after the first try to settle, ms; left out: a quarter of a second. */
  readonly settlePauseMs?: number;
}

/** A hold as its work wants it. */
interface WantedHold extends Pick<HoldCredits['data'], 'open_max'> {
  /** Left out: a new one. */
  readonly hold_id?: string | undefined;
  /** Left out: the time of the billing config, and at least as long as the work may take. */
  readonly expires_at?: string;
  /** The longest that the work may take, ms. */
  readonly lastsMs?: number;
}

/** The price of a page of the work: the present one, or that of a version. */
const priceOf = async (
  { billingConfig }: BillingDeps,
  { operation, mode, billing_type, completion_window }: WorkToBill,
  version?: number,
): Promise<(PagePrice & { readonly terms: BillingConfig['terms'] }) | WorkProblem> => {
  const config = await billingConfig(version);
  const key = { operation, billing_type, completion_window, extraction_mode: mode };
  const credits_per_page = rateOf(config, key);
  if (credits_per_page === undefined)
    return misfit(['body', 'mode'], `There is no rate for ${operation} in mode ${mode}.`);
  return { billing_type, credits_per_page, billing_config_version: config.version, terms: config.terms };
};

const holdOf = async (
  deps: BillingDeps,
  work: WorkToBill,
  version?: number,
): Promise<
  (Omit<HoldCredits['data'], 'hold_id' | 'expires_at'> & { readonly ttlMs: number }) | WorkProblem
> => {
  const { operation, operation_id, mode, tenant_id, pages, fingerprint, project_id, task_id, tags } = work;
  const { completion_window } = work;
  const price = await priceOf(deps, work, version);
  if ('code' in price) return price;
  const { terms, ...priced } = price;
  return {
    tenant_id,
    operation_id,
    operation,
    pages,
    category: categoryOf(operation),
    extraction_mode: ratedMode(operation, mode),
    free_pages_allowance: terms.free_pages,
    ...priced,
    project_id,
    task_id,
    api_key_id: work.caller.key_id,
    completion_window,
    ...(fingerprint !== undefined && { fingerprint }),
    ...(tags !== undefined && { tags }),
    ttlMs: terms.hold_ttl_seconds * 1000,
  };
};

const metaFor = (deps: BillingDeps, { caller, correlation_id }: WorkToBill) =>
  metaOf(deps, caller, correlation_id);

type Placed = PlacedHold | WorkProblem | HoldNotOpen | OtherHold;

const UNBILLED: PlacedHold = { kind: 'held', hold_id: null, free: false, expires_at: null };

const placed = async (deps: BillingDeps, work: WorkToBill, data: HoldCredits['data']): Promise<Placed> => {
  const held = await holdCredits(deps, data, metaFor(deps, work));
  if (held.kind !== 'held') return held;
  const { hold_id, expires_at, api_key_id, tags } = held.hold;
  return { kind: 'held', hold_id, expires_at, free: isFree(held.hold), api_key_id, tags };
};

/** Time that work may take after it was done: its result is stored, and its settlement asked for again. */
const SETTLES_MS = 5 * 60_000;
/** No caller waits for longer: what a process that died has held is available again by then. */
export const WAITED_MAX_MS = 2 * 3_600_000;

/** Sets aside what the work may cost, free pages first. Work that is not billed needs no hold. */
export const placeHold = async (
  deps: BillingDeps,
  work: WorkToBill,
  { hold_id = deps.clock.newId('hold'), lastsMs = 0, ...wanted }: WantedHold = {},
): Promise<Placed> => {
  if (work.caller.role !== 'tenant') return UNBILLED;
  const data = await holdOf(deps, work);
  if ('code' in data) return data;
  const { ttlMs, ...asked } = data;
  const lifeMs = Math.max(ttlMs, Math.min(lastsMs + SETTLES_MS, WAITED_MAX_MS));
  const expires_at = laterBy(deps.clock.now(), lifeMs);
  return placed(deps, work, { ...asked, hold_id, expires_at, ...wanted });
};

/**
 * Places the hold of accepted work again, which only logs of older releases can miss: at the price and with the free
 * pages of the billing config that it was taken under.
 */
export const placeAgain = async (deps: BillingDeps, work: WorkToBill, hold_id: string): Promise<Placed> => {
  const { tenant_id } = work;
  const version = (await heldBefore(deps, { tenant_id, hold_id }))?.billing_config_version;
  const data = await holdOf(deps, work, version);
  if ('code' in data) return data;
  const { ttlMs: _, ...asked } = data;
  return placed(deps, work, { ...asked, hold_id, expires_at: NO_END, reopens: true });
};

/**
 * Gives the hold back: what it was for will not be billed. False: it was closed before, so it may have been billed.
 * A failure here costs nothing: the hold expires.
 */
export const release = async (
  deps: BillingDeps,
  work: WorkToBill,
  { hold_id, reason }: { readonly hold_id: string | null; readonly reason: 'failed' | 'cancelled' },
): Promise<boolean> => {
  const { tenant_id } = work;
  if (hold_id === null) return true;
  return (await releaseHold(deps, { tenant_id, hold_id, reason }, metaFor(deps, work))) === 'released';
};

/** The work as its settlement records it. */
interface WorkSettlement {
  readonly hold_id: string | null;
  readonly usage_id: string;
  readonly document_id: string;
  readonly delivered: DeliveredWork;
}

/** Settles once, at the price of the hold; `hold_not_open`: it was given up before. */
export const billOf = async (
  deps: BillingDeps,
  work: WorkToBill,
  { hold_id, usage_id, document_id, delivered }: WorkSettlement,
): Promise<Bill | WorkProblem | HoldNotOpen> => {
  const { pages, tenant_id, operation_id, project_id, task_id } = work;
  const unbilled = { credits_used: 0, pages, balance_remaining: null };
  if (hold_id === null)
    return { kind: 'billed', cost: unbilled, free_pages: 0, position: undefined, delivered };
  const ids = { tenant_id, usage_id, job_id: null, api_key_id: work.caller.key_id };
  const settling = {
    operation_id,
    burn: { ...ids, pages, project_id, task_id, document_id, delivered },
    meta: () => metaFor(deps, work),
  };
  const settled = await settleOnce(deps, settling, hold_id);
  if (settled.kind !== 'settled') return settled;
  const { burn, position } = settled;
  // Another process may have billed it: what this one remembers can be older than the burn.
  const balance_remaining = settled.balance ?? (await deps.accounts.stateOf(tenant_id, 0)).balance;
  const cost = { credits_used: burn.credits, pages: burn.pages, balance_remaining };
  const { free_pages } = burn;
  return { kind: 'billed', cost, free_pages, position, delivered: burn.delivered ?? delivered };
};

/** Attempts to settle before the caller is asked to repeat, and the pause after the first, ms. */
const SETTLE_ATTEMPTS = 4;
const SETTLE_PAUSE_MS = 250;

/**
 * Settles work that was done, once, whatever happened before: the hold may be open, settled by a request that never
 * got its answer, or gone, as the work was given up. An outcome that is not known, or cannot be read now, is asked
 * for again: work that is delivered is billed, and work that is not must not be.
 */
export const settleDone = async (
  deps: BillingDeps,
  work: WorkToBill,
  done: WorkSettlement,
): Promise<Bill | WorkProblem | HoldNotOpen> => {
  for (let attempt = 1; attempt < SETTLE_ATTEMPTS; attempt += 1) {
    // An error that stays is thrown by the last attempt.
    const bill = await billOf(deps, work, done).catch(() => undefined);
    if (bill !== undefined && !(bill.kind === 'problem' && bill.code === 'busy')) return bill;
    await pause((deps.settlePauseMs ?? SETTLE_PAUSE_MS) * attempt);
  }
  return billOf(deps, work, done);
};

/** A file that was received and lies on the local disk. */
export interface ReceivedFile {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly file_name: string | null;
}

/** A document that the service knows already: it was presigned, and its file fetched from storage. */
export interface KnownDocument {
  readonly document_id: string;
  readonly source: 'upload' | 'canonical';
}

/** How a document is opened, as the request says it. */
export interface Opening {
  /** As `pageChoice` spells them: they alone are read and billed. */
  readonly pages?: string | undefined;
  /** Of an encrypted PDF; never written down. */
  readonly password?: string | undefined;
  /** Where these members stand in the request. */
  readonly at: readonly string[];
}

/** What extraction and conversion requests have in common. */
export interface WorkRequest {
  readonly tenant_id: string;
  readonly caller: Caller;
  readonly correlation_id: string;
  /** What its caller named it, and the digest of what it asks for. */
  readonly idempotency: { readonly idempotency_key: string; readonly fingerprint: string } | null;
  readonly file: ReceivedFile;
  /** Left out: the file came with the request and is a new document. */
  readonly document?: KnownDocument | undefined;
  readonly project_id: string;
  readonly task_id: string;
  /** Of a document of a batch that may wait. */
  readonly completion_window?: CompletionWindow | undefined;
  /** Its own; `withDefaultTags` adds those of its config and its key. */
  readonly tags?: Tags | undefined;
  readonly opening: Opening;
  /** Takes the work, once all is known that it needs, instead of having it done and billed now. */
  readonly handOver?: HandOver | undefined;
  /** Its key names work whose caller waited for it: it is answered now, and not queued. */
  readonly isWaited?: boolean;
  /** Why its file is not there: only what its key names can be answered. */
  readonly gone?: WorkProblem;
  readonly signal: AbortSignal;
}

/** Somebody else has the work now, and answers for it. */
export interface HandedOver {
  readonly kind: 'handed_over';
}

/**
 * It is work of the queue: a person may have to look at it, or its key names an operation. `isFull`: this process has
 * no place for it now, and any worker may do it.
 */
export interface ToQueue {
  readonly kind: 'to_queue';
  readonly isFull?: true;
}

export const TO_QUEUE: ToQueue = { kind: 'to_queue' };

/** What was begun for a caller who waits is not queued, and a process that shuts down hands nothing over. */
const noSlot = (
  { slots, handsOver }: { readonly slots: HeavySlots; readonly handsOver?: true },
  { isWaited, gone }: Pick<WorkRequest, 'isWaited' | 'gone'>,
): ToQueue | WorkProblem =>
  handsOver === true && isWaited !== true && gone === undefined && !slots.isClosed()
    ? { ...TO_QUEUE, isFull: true }
    : noPlace();

/** Does work in one of the places of this process, while there is one. */
export const inPlace = async <Answer>(
  deps: { readonly slots: HeavySlots; readonly handsOver?: true },
  request: WorkRequest,
  work: () => Promise<Answer>,
): Promise<Answer | ToQueue | WorkProblem> => {
  const free = deps.slots.take(request.tenant_id);
  if (free === undefined) return noSlot(deps, request);
  try {
    return await work();
  } finally {
    free();
  }
};

/** What came of a request for work. */
export type WorkAnswer = Delivered | HandedOver | ToQueue | WorkProblem;

type HandOver = (request: WorkRequest, plan: WorkPlan) => Promise<HandedOver | WorkProblem>;

/** Finished work, before it is billed. */
export interface WorkDone {
  readonly kind: 'done';
  readonly body: JsonObject;
  readonly status: 'success' | 'partial';
  /** Why a person has to look at it; left out where nobody has to. */
  readonly question?: Question | undefined;
  /** The batch that its parts become; left out where none does, or a person has to decide first. */
  readonly then_batch_id?: string | undefined;
}

/** One kind of work: what it is billed as, and how it is done. */
export interface WorkPlan {
  readonly operation: RatedOperation;
  readonly endpoint: WorkEndpoint;
  readonly mode: WorkToBill['mode'];
  /** The purpose of opening the file. */
  readonly effort: ParseEffort;
  readonly models: ModelsByFormat;
  readonly idPrefix: WorkPrefix;
  /** The longest that it may take, ms: its hold lives longer. */
  readonly lastsMs: number;
  /** The code of work that a defect of ours ended. */
  readonly brokenAs: 'extraction_failed' | 'conversion_failed' | 'sorting_failed';
  /** The request itself, so that another process can do it later. */
  readonly task: OperationTask;
  readonly run: (task: WorkTask) => Promise<WorkDone | WorkProblem>;
}

/** One piece of work, while it is done. */
export interface WorkTask {
  readonly operation_id: string;
  readonly document_id: string;
  /** The file was opened to count its pages, and the work goes on with it. */
  readonly kept: KeptFile;
  /** Those for the format of the file. */
  readonly models: ChosenModels;
  readonly signal: AbortSignal;
  /** Told of each call of a model. */
  readonly onCall: (call: ModelCall) => void;
  /** The uses of the caller's own keys so far. */
  readonly keyUse: () => OwnKeyUse;
  /** Milliseconds since the work began. */
  readonly elapsedMs: () => number;
  /** Where there are more pages than a caller waits for. */
  readonly long?: LongWork | undefined;
  /** Of work that another process may go on with; left out: a caller waits for it. */
  readonly keeping?: Omit<Keeping, 'numbers'> | undefined;
}

/** Work on a long document, for which nobody waits. */
export interface LongWork {
  readonly pagesMax: number;
  /** More time than for a document that callers wait for. */
  readonly times: number;
  /** The pages to read in ranges; null for a format that is read in one piece. */
  readonly ranges: Pick<Ranged<ParseRequest>, 'numbers' | 'shelf' | 'turns' | 'onPages'> | null;
}

/** What work with models goes on with, and in which ranges it reads. */
export const keptWork = ({ long, keeping }: Pick<WorkTask, 'long' | 'keeping'>): Keeping | undefined =>
  keeping && { ...keeping, numbers: long?.ranges?.numbers };

/** Something was not looked at, for want of time or of a model's answer: what was found is still answered. */
export const isOfMissingPages = ({ code }: DocumentWarning): boolean =>
  code === 'deadline_reached' || code === 'pages_not_answered';

/** The work that calls of models were made for. */
export interface CalledFor {
  readonly bill: Pick<WorkToBill, 'tenant_id' | 'operation_id' | 'correlation_id'> & {
    readonly operation: string;
    readonly caller: CommandMeta['actor'];
  };
  /** null: more than one. */
  readonly document_id: string | null;
  readonly task_id: string;
  /** True where the whole operation is free for the tenant. */
  readonly free_tier: boolean;
  /** Which attempt at the work; left out: the first. */
  readonly attempt?: number;
  /** How many calls this attempt made before this one. */
  readonly earlier: number;
}

export interface Delivered {
  readonly kind: 'delivered';
  readonly body: JsonObject;
  readonly cost: Cost;
  readonly free_pages: number;
}
