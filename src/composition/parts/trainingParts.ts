import { openLlmTrainer } from '@quire/engine/learning/prompts/llmTrainer';
import type { LlmTrainerDeps } from '@quire/engine/learning/prompts/asking';
import type { DocumentTools } from '@quire/engine/ports/documentTools';
import type { Trainer } from '../../../domain/ports/trainer.ts';
import { modelParts } from './modelParts.ts';
import { scoredAnswer } from '@quire/engine/learning/scoring/feedback';
import { trainer } from '../../worker/training.ts';
import type { QueueWorker } from '../../worker/queue.ts';
import { trainingWorkerOf } from './pipelineParts.ts';
import type { Context, SomeFactories } from '../context.ts';
import { EXTRACT_DEADLINES_MS, LEARN_DEADLINE_MS, PAGES_MAX } from '../workLimits.ts';

/** What cannot be scored in time counts as no answer. */
const scoredBeside =
  (tools: DocumentTools, deadlineMs: number): LlmTrainerDeps['score'] =>
  async (answered, { signal, share }) => {
    const outcome = await tools.score(answered, { deadlineMs, signal, share });
    signal.throwIfAborted();
    return outcome.kind === 'scored' ? outcome.scored : scoredAnswer(answered.expected, undefined);
  };

const trainerOf = (from: Context): Trainer => {
  const { workers } = from.parts;
  const { platformModels, localDeadlinesMs } = from.config;
  const { logCall } = modelParts(from);
  return trainer({
    parser: workers.parser,
    learner: workers.learner,
    pagesMax: PAGES_MAX,
    parseDeadlinesMs: localDeadlinesMs,
    learnDeadlineMs: LEARN_DEADLINE_MS,
    llmTrainer: openLlmTrainer({
      providers: from.models,
      requestDeadlineMs: EXTRACT_DEADLINES_MS.standard,
      score: scoredBeside(workers.tools, localDeadlinesMs.fast),
    }),
    platformModels,
    logCall,
  });
};

/** What learns, and the worker that takes jobs to it. */
export const trainingParts = {
  trainer: trainerOf,
  trainingWorker: (from): QueueWorker => trainingWorkerOf(from, from.trainer, from.secretBox),
} satisfies SomeFactories;
