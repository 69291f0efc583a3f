import type { BillingType } from '../../../domain/account/messages.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { ParseEffort, ParseRequest } from '@quire/engine/ports/documentParser';
import type { Ranged } from '@quire/engine/ports/rangedWork';
import type { KeptFile } from '@quire/engine/ports/keptFile';
import type { ModelCall } from '@quire/engine/ports/modelWork';
import type { RatedOperation } from '../../../domain/rating.ts';
import type { Caller, Cost, WorkToBill } from './billedWork.ts';
import type { ChosenModels } from '../models/models.ts';
import type { ModelsByFormat, OwnKeyUse } from '../models/ownKeys.ts';
import type { OperationTask } from '../operations/operationInput.ts';
import type { WorkProblem } from './workProblem.ts';

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
  readonly opening: Opening;
  /** Takes the work, once all is known that it needs, instead of having it done and billed now. */
  readonly handOver?: HandOver | undefined;
  readonly signal: AbortSignal;
}

/** Somebody else has the work now, and answers for it. */
export interface HandedOver {
  readonly kind: 'handed_over';
}

type HandOver = (request: WorkRequest, plan: WorkPlan) => Promise<HandedOver | WorkProblem>;

/** What was done, before it is billed. */
export interface WorkDone {
  readonly kind: 'done';
  readonly body: JsonObject;
  readonly status: 'success' | 'partial';
  /** By the calls that were made: it may differ from what was held. */
  readonly billing_type: BillingType;
}

/** One kind of work: what it is billed as, and how it is done. */
export interface WorkPlan {
  readonly operation: RatedOperation;
  readonly endpoint: string;
  readonly mode: WorkToBill['mode'];
  /** What the file is opened for. */
  readonly effort: ParseEffort;
  readonly models: ModelsByFormat;
  readonly idPrefix: 'ext' | 'cnv';
  readonly timedOut: 'extraction_failed' | 'conversion_failed';
  /** What it is asked for, so that another process can do it later. */
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
  /** What the own keys of the caller were used for so far. */
  readonly keyUse: () => OwnKeyUse;
  /** Milliseconds since the work began. */
  readonly elapsedMs: () => number;
  /** Where there are more pages than a caller waits for. */
  readonly long?: LongWork | undefined;
}

/** Work on a long document, for which nobody waits. */
export interface LongWork {
  readonly pagesMax: number;
  /** The pages to read in ranges; null for a format that is read in one piece. */
  readonly ranges: Pick<Ranged<ParseRequest>, 'numbers' | 'shelf' | 'onPages'> | null;
}

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
