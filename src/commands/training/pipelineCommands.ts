import type { Artifacts } from './artifacts.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import type { cancelWork } from '../queue/closeWork.ts';
import type { createTrainingJob } from './createTrainingJob.ts';
import type { Deployments } from './deployments.ts';
import type { exportExamples } from './exportExamples.ts';
import type { JobName, TrainingJobs } from './trainingJobs.ts';

/** What routes and the envelope call for training jobs, artifacts and deployments. */
export interface PipelineCommands {
  readonly createJob: ReturnType<typeof createTrainingJob>;
  readonly cancelJob: (name: JobName, meta: CommandMeta) => ReturnType<typeof cancelWork>;
  readonly exportExamples: ReturnType<typeof exportExamples>;
  readonly jobs: TrainingJobs;
  readonly artifacts: Artifacts;
  readonly deployments: Deployments;
}
