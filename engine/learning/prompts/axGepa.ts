import type { AxGEPAAdapter, AxOptimizerArgs } from '@ax-llm/ax';
import type { Mistaken } from '../../models/prompts.ts';
import { MINIBATCH, type LlmSplit } from './llmSplit.ts';
import { SearchEnded } from './failures.ts';

/** How a search sees the work: notes in, scores and feedback out. */
interface Search {
  readonly seed: number;
  readonly split: LlmSplit;
  /** Instruction to begin with. */
  readonly start: string;
  /** Steps of at most `MINIBATCH` readings each. */
  readonly stepsMax: number;
  readonly score: (notes: string, places: readonly number[]) => Promise<readonly SearchScore[]>;
  readonly reflect: (notes: string, mistaken: readonly SearchScore[]) => Promise<string | undefined>;
}

type SearchScore = Mistaken;

/** What the optimiser is given of an example: its place alone, so no document is in its hands. */
interface Datum {
  readonly place: number;
}

const COMPONENT = 'extraction::notes';

/** The optimiser's generator is shifted in 32 bits and stands still at 0. */
const seedOf = (seed: number): number => (Math.abs(Math.trunc(seed)) % 2_147_483_646) + 1;

/** Options that the optimiser reads and its types leave out. */
interface Unlisted {
  readonly paretoSetSize: number;
  readonly mergeMax: number;
}

/** Runs a step; what it throws ends the search, though the optimiser would go on. */
const latched = (): {
  readonly run: <T>(step: () => Promise<T>) => Promise<T>;
  readonly check: () => void;
} => {
  let ended: { readonly reason: unknown } | undefined;
  const check = (): void => {
    if (ended !== undefined) throw ended.reason;
  };
  return {
    check,
    run: async (step) => {
      check();
      try {
        return await step();
      } catch (reason) {
        ended = { reason };
        throw reason;
      }
    },
  };
};

type Latch = ReturnType<typeof latched>;

const adapterOf = (
  { score, reflect }: Search,
  latch: Latch,
): AxGEPAAdapter<Datum, SearchScore, SearchScore> => ({
  evaluate: (batch, candidate) =>
    latch.run(async () => {
      const scored = await score(
        candidate[COMPONENT] ?? '',
        batch.map(({ place }) => place),
      );
      return { outputs: [...scored], scores: scored.map((one) => one.score), trajectories: [...scored] };
    }),
  make_reflective_dataset: (_candidate, { outputs }) => ({ [COMPONENT]: outputs }),
  propose_new_texts: (candidate, dataset) =>
    latch.run(async (): Promise<Record<string, string>> => {
      const notes = candidate[COMPONENT] ?? '';
      const mistaken = (dataset[COMPONENT] as readonly SearchScore[]).filter((one) => one.score < 1);
      const better = await reflect(notes, mistaken);
      return better === undefined ? {} : { [COMPONENT]: better };
    }),
});

/**
 * Searches for notes by GEPA: reflective mutation over minibatches, parents drawn from the Pareto front over
 * the held-out examples. It ends by itself, or when `score` or `reflect` throws: `SearchEnded` is an end
 * like any other, all else is thrown on. What was found, the caller has seen in `score`.
 */
export const searchByGepa = async (search: Search): Promise<void> => {
  // loaded when it is needed: it is large, and most processes never train
  const { ax, AxGEPA, AxMockAIService } = await import('@ax-llm/ax');
  const latch = latched();
  const silent = new AxMockAIService<string>({
    chatResponse: () => Promise.reject(new Error('The optimiser asks no model by itself.')),
  });
  const program = Object.assign(ax('documentText:string -> extracted:json'), {
    getOptimizableComponents: () => [{ key: COMPONENT, kind: 'instruction', current: search.start }],
    // after a failed evaluation the optimiser would go on by itself: it comes by here, and no further
    applyOptimizedComponents: () => latch.check(),
  });
  const { learn, held } = search.split;
  const args: AxOptimizerArgs & Unlisted = {
    studentAI: silent,
    seed: seedOf(search.seed),
    numTrials: search.stepsMax,
    earlyStoppingTrials: search.stepsMax + 1,
    minibatchSize: Math.min(MINIBATCH, learn.length),
    paretoSetSize: held.length,
    mergeMax: 0,
  };
  const data = (places: readonly number[]): Datum[] => places.map((place) => ({ place }));
  try {
    await new AxGEPA(args).compile(program, data([...learn, ...held]) as never, () => 0, {
      feedbackExamples: data(learn) as never,
      validationExamples: data(held) as never,
      // readings are counted where they are made
      maxMetricCalls: Number.MAX_SAFE_INTEGER,
      gepaAdapter: adapterOf(search, latch),
    });
    latch.check();
  } catch (reason) {
    if (!(reason instanceof SearchEnded)) throw reason;
  }
};
