import { setTimeout as sleep } from 'node:timers/promises';
import type { DocumentParser, ParseEffort } from '../../ports/documentParser.ts';
import type { DocumentTools, ToolLimits } from '../../ports/documentTools.ts';
import type { ModelProviders, ModelRequest } from '../../ports/modelProvider.ts';
import type { Keeping, ModelFailed, WorkModels } from '../../ports/modelWork.ts';
import type { RangedWork, SchemaValidator } from '../../ports/extractionEngine.ts';

/** Does work on each item, at most `atOnce` at a time; the answers keep the items' order. */
export const eachOf = async <Item, Answer>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Answer>,
): Promise<Answer[]> => {
  const answers: Answer[] = new Array<Answer>(items.length);
  const waiting = items.entries();
  const take = async (): Promise<void> => {
    for (const [index, item] of waiting) answers[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, take));
  return answers;
};

/** Lets so many run at once, and shares them out; `enter` gives what frees the place. */
export interface FairGate {
  readonly enter: (share: string, signal?: AbortSignal) => Promise<() => void>;
}

/**
 * At most `atOnce` places, and half of them for one share, so that another always finds one. Of those that wait, the
 * share with the fewest goes first. A wait that is given up ends at once, without a place.
 */
export const fairGate = (atOnce: number): FairGate => {
  const ofShare = Math.max(1, Math.floor(atOnce / 2));
  const inUse = new Map<string, number>();
  const waiting = new Map<string, Set<() => void>>();
  let used = 0;
  const usedBy = (share: string): number => inUse.get(share) ?? 0;
  const letIn = (): void => {
    while (used < atOnce) {
      const [next] = [...waiting.keys()]
        .filter((share) => usedBy(share) < ofShare)
        .sort((a, b) => usedBy(a) - usedBy(b));
      const line = next === undefined ? undefined : waiting.get(next);
      const [first] = line ?? [];
      if (next === undefined || line === undefined || first === undefined) return;
      line.delete(first);
      if (line.size === 0) waiting.delete(next);
      used += 1;
      inUse.set(next, usedBy(next) + 1);
      first();
    }
  };
  const leave = (share: string): void => {
    used -= 1;
    if (usedBy(share) === 1) inUse.delete(share);
    else inUse.set(share, usedBy(share) - 1);
    letIn();
  };
  return {
    enter: (share, signal) =>
      new Promise((resolve) => {
        const line = waiting.get(share) ?? new Set();
        const giveUp = (): void => {
          line.delete(enter);
          if (line.size === 0 && waiting.get(share) === line) waiting.delete(share);
          resolve(() => undefined);
        };
        const enter = (): void => {
          signal?.removeEventListener('abort', giveUp);
          resolve(once(() => leave(share)));
        };
        if (signal?.aborted === true) {
          resolve(() => undefined);
          return;
        }
        signal?.addEventListener('abort', giveUp, { once: true });
        waiting.set(share, line.add(enter));
        letIn();
      }),
  };
};

const once = (work: () => void): (() => void) => {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
};

/** Time that is left of a request's deadline. */
interface Deadline {
  /** Milliseconds; never below 1. */
  readonly leftMs: () => number;
  readonly isOver: () => boolean;
}

export const deadlineIn = (ms: number): Deadline => {
  const endsAt = performance.now() + ms;
  const left = () => endsAt - performance.now();
  return { leftMs: () => Math.max(1, Math.round(left())), isOver: () => left() <= 0 };
};

/** What work with models stands on: ports only. */
export interface ModelWorkDeps {
  readonly providers: Pick<ModelProviders, 'abilitiesOf' | 'ask' | 'readPages'>;
  readonly tools: DocumentTools;
  readonly parser: Pick<DocumentParser, 'read' | 'render'>;
  readonly schemas: Pick<SchemaValidator, 'check'>;
  /** Of each piece of work that no model does, by the mode of the request. */
  readonly localDeadlinesMs: Readonly<Record<ParseEffort, number>>;
  /** Ranges of long documents, read one by one. */
  readonly ranged: Pick<RangedWork, 'read'>;
  /** A file of the local disk. */
  readonly readFile: (path: string) => Promise<Uint8Array>;
  /** Before parts that failed are asked about again, ms; left out: a second, then four. */
  readonly partPausesMs?: readonly number[];
}

/** One piece of work with its models, and the time that is left for it. */
export interface Running {
  readonly deps: ModelWorkDeps;
  readonly models: WorkModels;
  readonly deadline: Deadline;
  readonly effort: ParseEffort;
  readonly signal: AbortSignal | undefined;
  /** As in `ParseRequest`. */
  readonly share: string;
  /** Where the steps of the work lie, for an attempt that goes on with them; left out: nothing is kept. */
  readonly keeping: Keeping | undefined;
}

export const limitsOf = ({ deps, deadline, effort, signal, share }: Running): ToolLimits => ({
  deadlineMs: Math.min(deadline.leftMs(), deps.localDeadlinesMs[effort]),
  signal,
  share,
});

/** How a model is asked within the time that is left. */
export const inTime = ({ deadline, signal }: Running): Pick<ModelRequest, 'deadlineMs' | 'signal'> => ({
  deadlineMs: deadline.leftMs(),
  signal,
});

export const modelFailed = (failure: ModelFailed['failure']): ModelFailed => ({
  kind: 'model_failed',
  failure,
});

/** Failures of a provider that may be gone the next time. */
const mayPass = ({ failure }: ModelFailed): boolean => {
  if (failure.kind === 'timed_out') return true;
  if (failure.kind !== 'provider_error') return false;
  const { provider_status: status } = failure;
  return status === null || status >= 500 || status === 408 || status === 429;
};

/** Before what failed is tried again, ms, a round each. */
const PAUSES_MS: readonly number[] = [1_000, 4_000];

interface Round<Item, Answer> {
  readonly atOnce: number;
  readonly work: (item: Item) => Promise<Answer>;
}

/**
 * Work of models on several items. What fails for a reason that may pass is tried again, after the others and a pause,
 * within the deadline; each try makes its own attempts, and waits for as long as a provider asks. Where the first
 * answer is a failure that stays, the others are not begun.
 */
export const inRounds = async <Item, Answer extends { readonly kind: string } | ModelFailed>(
  running: Running,
  items: readonly Item[],
  { atOnce, work }: Round<Item, Answer>,
): Promise<Answer[]> => {
  const answers: Answer[] = new Array<Answer>(items.length);
  let last: Answer | undefined;
  let isHopeless = true;
  const tryEach = (numbers: readonly number[]) =>
    eachOf(numbers, atOnce, async (at) => {
      const item = items[at];
      if (last !== undefined && isHopeless) answers[at] = last;
      else if (item !== undefined) {
        const answer = await work(item);
        answers[at] = answer;
        if (isLasting(answer)) last = answer;
        else isHopeless = false;
      }
    });
  await tryEach([...items.keys()]);
  for (const pauseMs of running.deps.partPausesMs ?? PAUSES_MS) {
    const failed = [...answers.keys()].filter((at) => isPassing(answers[at]));
    if (failed.length === 0 || running.deadline.leftMs() <= pauseMs) break;
    await sleep(pauseMs, undefined, { signal: running.signal }).catch(() => undefined);
    if (running.signal?.aborted === true) break;
    await tryEach(failed);
  }
  return answers;
};

const isFailed = (answer: { readonly kind: string } | undefined): answer is ModelFailed =>
  answer?.kind === 'model_failed';
const isPassing = (answer: { readonly kind: string } | undefined): boolean =>
  isFailed(answer) && mayPass(answer);
const isLasting = (answer: { readonly kind: string }): boolean => isFailed(answer) && !mayPass(answer);
