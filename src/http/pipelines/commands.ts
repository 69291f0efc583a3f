import type { Artifacts } from '../../commands/artifacts.ts';
import type { cancelTrainingJob } from '../../commands/closeTrainingJob.ts';
import type { createTrainingJob } from '../../commands/createTrainingJob.ts';
import type { Deployments } from '../../commands/deployments.ts';
import type { exportExamples } from '../../commands/exportExamples.ts';
import type { TrainingJobs } from '../../commands/trainingJobs.ts';

/** What routes and the envelope call for training jobs, artifacts and deployments. */
export interface PipelineCommands {
  readonly createJob: ReturnType<typeof createTrainingJob>;
  readonly cancelJob: ReturnType<typeof cancelTrainingJob>;
  readonly exportExamples: ReturnType<typeof exportExamples>;
  readonly jobs: TrainingJobs;
  readonly artifacts: Artifacts;
  readonly deployments: Deployments;
}
