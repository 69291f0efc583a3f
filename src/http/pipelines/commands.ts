import type { Artifacts } from '../../commands/training/artifacts.ts';
import type { cancelTrainingJob } from '../../commands/training/closeTrainingJob.ts';
import type { createTrainingJob } from '../../commands/training/createTrainingJob.ts';
import type { Deployments } from '../../commands/training/deployments.ts';
import type { exportExamples } from '../../commands/training/exportExamples.ts';
import type { TrainingJobs } from '../../commands/training/trainingJobs.ts';

/** What routes and the envelope call for training jobs, artifacts and deployments. */
export interface PipelineCommands {
  readonly createJob: ReturnType<typeof createTrainingJob>;
  readonly cancelJob: ReturnType<typeof cancelTrainingJob>;
  readonly exportExamples: ReturnType<typeof exportExamples>;
  readonly jobs: TrainingJobs;
  readonly artifacts: Artifacts;
  readonly deployments: Deployments;
}
