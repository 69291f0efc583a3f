import type { Artifacts } from './artifacts.ts';
import type { cancelTrainingJob } from './closeTrainingJob.ts';
import type { createTrainingJob } from './createTrainingJob.ts';
import type { Deployments } from './deployments.ts';
import type { exportExamples } from './exportExamples.ts';
import type { TrainingJobs } from './trainingJobs.ts';

/** What routes and the envelope call for training jobs, artifacts and deployments. */
export interface PipelineCommands {
  readonly createJob: ReturnType<typeof createTrainingJob>;
  readonly cancelJob: ReturnType<typeof cancelTrainingJob>;
  readonly exportExamples: ReturnType<typeof exportExamples>;
  readonly jobs: TrainingJobs;
  readonly artifacts: Artifacts;
  readonly deployments: Deployments;
}
