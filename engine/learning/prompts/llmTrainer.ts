import { nameOfModel } from '../../ports/modelProvider.ts';
import { UNTRAINED } from '../../models/learnedPrompt.ts';
import type { LearnedPrompt } from '../../ports/artifacts.ts';
import type { LlmTrainer, TrainingOutcome } from '../../ports/training.ts';
import { schemaHash } from '../artifact.ts';
import { LLM_ENGINE_VERSION, LLM_PROMPT_VERSION, llmArtifactText, type LlmArtifact } from './llmArtifact.ts';
import { reportOfPrompts, totalOf } from './llmReport.ts';
import { fewestMetricCalls, llmSplit, MINIBATCH, type LlmSplit } from './llmSplit.ts';
import type { ScoredAnswer } from '../../ports/documentTools.ts';
import type { LlmTrainerDeps, Training } from './asking.ts';
import { searchByGepa } from './axGepa.ts';
import { bootstrapped } from './demos.ts';
import { ProviderFailed, SearchEnded, type TrainingFailed } from './failures.ts';
import { reflected } from './reflection.ts';
import { openScoreboard, type Scoreboard } from './scoreboard.ts';

/** Proposals in a row that better nothing, after which a search is given up. */
const FRUITLESS_MAX = 10;

/** A prompt and its scores on the examples that were held out. */
interface Found {
  readonly prompt: LearnedPrompt;
  readonly held: readonly ScoredAnswer[];
}

interface Running extends Training {
  readonly split: LlmSplit;
  readonly scoreboard: Scoreboard;
}

const tooFew = ({ work }: Training, { held }: LlmSplit): TrainingFailed | undefined => {
  const fewest = fewestMetricCalls(held.length);
  if (work.max_metric_calls >= fewest) return undefined;
  const detail =
    `max_metric_calls is ${work.max_metric_calls}, and ${held.length} held-out examples need ` +
    `${fewest}. Raise it or the optimizer_tier, or lower validation_split.`;
  return { kind: 'failed', code: 'validation_error', detail, lasting: true };
};

/** Demos are kept only where they better what is held out. */
const withDemos = async (
  running: Running,
  baseline: Found,
): Promise<Found & { shown: readonly number[] }> => {
  const { scoreboard, split, work } = running;
  const keep = split.held.length;
  const { prompt, shown } = await bootstrapped(
    scoreboard,
    { examples: work.examples, places: split.learn },
    keep,
  );
  if (prompt.demos.length === 0 || scoreboard.left() < keep) return { ...baseline, shown: [] };
  const held = await scoreboard.score(prompt, split.held);
  return totalOf(held) > totalOf(baseline.held) ? { prompt, held, shown } : { ...baseline, shown: [] };
};

/** A worked example tells the model its own answer, so nothing is learned from it. */
const learnedFrom = ({ learn }: LlmSplit, shown: readonly number[]): Pick<LlmSplit, 'learn'> => {
  const rest = learn.filter((place) => !shown.includes(place));
  return { learn: rest.length > 0 ? rest : learn };
};

/** Searches for an instruction from what was found so far; gives the best there is on the held-out examples. */
const withNotes = async (running: Running, start: Found, shown: readonly number[]): Promise<Found> => {
  const { scoreboard, split, work } = running;
  const { learn } = learnedFrom(split, shown);
  // a proposal that cannot be tried and then scored on what was held out is not asked for
  const stepCalls = Math.min(MINIBATCH, learn.length) + split.held.length;
  let best = start;
  let fruitless = 0;
  const score = async (instruction: string, places: readonly number[]) => {
    const prompt = { ...start.prompt, instruction };
    const scored = await scoreboard.score(prompt, places);
    if (places.length === split.held.length && places.every((place, i) => place === split.held[i])) {
      if (totalOf(scored) > totalOf(best.held)) {
        best = { prompt, held: scored };
        fruitless = 0;
      }
      if (totalOf(best.held) === 1) throw new SearchEnded('All that was held out is read rightly.');
    }
    return places.map((place, i) => ({
      text: work.examples[place]?.text ?? '',
      score: scored[i]?.score ?? 0,
      feedback: scored[i]?.feedback ?? [],
    }));
  };
  await searchByGepa({
    seed: work.seed,
    split: { learn, held: split.held },
    start: start.prompt.instruction,
    stepsMax: work.max_metric_calls,
    score,
    reflect: (notes, mistaken) => {
      fruitless += 1;
      if (fruitless > FRUITLESS_MAX || scoreboard.left() < stepCalls)
        throw new SearchEnded('Nothing better is found.');
      return reflected(running, notes, mistaken);
    },
  });
  return best;
};

const searched = async (running: Running, baseline: Found): Promise<Found> => {
  if (totalOf(baseline.held) === 1) return baseline;
  const { shown, ...start } = await withDemos(running, baseline);
  return totalOf(start.held) === 1 ? start : withNotes(running, start, shown);
};

const outcomeOf = ({ work, scoreboard }: Running, baseline: Found, best: Found): TrainingOutcome => {
  const report = reportOfPrompts(baseline.held, best.held);
  const artifact: LlmArtifact = {
    kind: 'llm',
    engine_version: LLM_ENGINE_VERSION,
    prompt_version: LLM_PROMPT_VERSION,
    schema_hash: schemaHash(work.schema),
    model: nameOfModel(work.access.ref),
    instruction: best.prompt.instruction,
    demos: [...best.prompt.demos],
    metrics: report,
    seed: work.seed,
    budget: { max_metric_calls: work.max_metric_calls, metric_calls: scoreboard.used() },
  };
  const { baseline_score, best_score, per_field } = report;
  const bytes = new TextEncoder().encode(llmArtifactText(artifact));
  return { kind: 'trained', artifact: bytes, baseline_score, best_score, per_field };
};

const trained = async (training: Training): Promise<TrainingOutcome> => {
  const { work } = training;
  const split = llmSplit(work.examples.length, work.validation_split, work.seed);
  const few = tooFew(training, split);
  if (few !== undefined) return few;
  const running = { ...training, split, scoreboard: openScoreboard(training) };
  const baseline = { prompt: UNTRAINED, held: await running.scoreboard.score(UNTRAINED, split.held) };
  return outcomeOf(running, baseline, await searched(running, baseline));
};

/**
 * Learns by asking the model through the port of providers: worked examples first, then an instruction by
 * GEPA, never with more readings than the budget has. A provider that fails ends the job; an abort throws.
 */
export const openLlmTrainer = (deps: LlmTrainerDeps): LlmTrainer => ({
  train: async (work, context) => {
    try {
      return await trained({ deps, work, context });
    } catch (error) {
      if (error instanceof ProviderFailed) return error.outcome;
      throw error;
    }
  },
});
