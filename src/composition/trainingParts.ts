import { openLlmTrainer } from '../../adapters/training/llmTrainer.ts';
import type { Trainer } from '../../domain/ports/trainer.ts';
import { modelParts } from './modelParts.ts';
import { trainer } from '../worker/trainer.ts';
import type { TrainingWorker } from '../worker/trainingWorker.ts';
import { trainingWorkerOf } from './pipelineParts.ts';
import { bind, resolve, type Container } from './token.ts';
import * as t from './tokens.ts';
import { CONVERT_DEADLINE_MS, EXTRACT_DEADLINES_MS, LEARN_DEADLINE_MS, PAGES_MAX } from './workLimits.ts';

const trainerOf = (from: Container): Trainer => {
  const { workers } = resolve(from, t.PARTS);
  const { logCall } = modelParts(from);
  return trainer({
    parser: workers.parser,
    learner: workers.learner,
    pagesMax: PAGES_MAX,
    parseDeadlineMs: CONVERT_DEADLINE_MS,
    learnDeadlineMs: LEARN_DEADLINE_MS,
    llmTrainer: openLlmTrainer({
      providers: resolve(from, t.MODELS),
      requestDeadlineMs: EXTRACT_DEADLINES_MS.standard,
    }),
    platformModels: resolve(from, t.CONFIG).platformModels,
    logCall,
  });
};

/** What learns, and the worker that takes jobs to it. */
export const bindTraining = (container: Container): void => {
  bind(container, t.TRAINER, trainerOf);
  bind(container, t.TRAINING_WORKER, (from): TrainingWorker =>
    trainingWorkerOf(from, resolve(from, t.TRAINER), resolve(from, t.SECRET_BOX)),
  );
};
