import type { DocumentParser, ParseEffort } from '../../ports/documentParser.ts';
import type { DocumentTools, ToolLimits } from '../../ports/documentTools.ts';
import type { ModelProviders, ModelRequest } from '../../ports/modelProvider.ts';
import type { ModelFailed, WorkModels } from '../../ports/modelWork.ts';
import type { SchemaValidator } from '../../ports/extractionEngine.ts';

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
  /** A file of the local disk. */
  readonly readFile: (path: string) => Promise<Uint8Array>;
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
