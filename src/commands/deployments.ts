import {
  type Activation,
  artifact,
  artifactEvent,
  type ArtifactEvent,
  artifactKeyOf,
  type ArtifactPublished,
  artifactStream,
  artifactUriOf,
  deployment,
  deploymentEvent,
  type DeploymentKind,
  type DeploymentScope,
  deploymentStream,
  type Rollout,
} from '../../domain/deployment.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import type { CommandMeta, RecorderKind } from '../../domain/kernel/decider.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { streamsOf } from '../writer/commandHandler.ts';
import { lastErasureIn } from './eraseTenant.ts';
import type { createTrainingJob, JobName, TrainingJobs } from './training.ts';
import { misfit, workProblem, type WorkProblem } from './workProblem.ts';
import type { cancelWork } from './queue.ts';
import type { exportExamples, keptInput } from './exportExamples.ts';
import type { CreatedJob } from '../../domain/trainingJob.ts';

export type Artifact = ArtifactPublished['data'];

interface ArtifactsDeps {
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly jobs: Pick<TrainingJobs, 'stateOf'>;
}

/** The bytes of an artifact are gone or are not those that were published. */
export class TamperedArtifact extends Error {
  override readonly name = 'TamperedArtifact';
}

/** An artifact: its bytes in object storage, and its event. */
export type Artifacts = ReturnType<typeof artifacts>;

const codec = eventCodec(artifactEvent);

const ARTIFACT_ID = /^art_[A-Za-z0-9-]{1,64}$/;

export const artifacts = ({ store, objects, jobs }: ArtifactsDeps) => {
  const rules = { decider: artifact, codec, streamOf: artifactStream };
  const { handle } = streamsOf<RecorderKind<ArtifactEvent>>(rules, store);
  const erasedAt = lastErasureIn(store);
  const published = async (artifactId: string): Promise<Artifact | undefined> => {
    if (!ARTIFACT_ID.test(artifactId)) return undefined;
    for await (const recorded of store.read(artifactStream(artifactId), { limit: 1 }))
      return codec.decode(recorded).data;
    return undefined;
  };
  return {
    /** The artifact published under the ID, whether its job has succeeded or not. */
    published,
    /** Stores the bytes under their digest; the same bytes again change nothing. Gives digest and size. */
    keep: async (bytes: Uint8Array): Promise<Pick<Artifact, 'sha256' | 'bytes'>> => {
      const digest = sha256(bytes);
      await objects.put(artifactKeyOf(digest), bytes);
      return { sha256: digest, bytes: bytes.byteLength };
    },
    /** Publishes once: the artifact that the stream has then, or undefined when the log did not answer. */
    publish: async (data: Artifact, meta: CommandMeta): Promise<Artifact | undefined> => {
      const event = { type: 'ArtifactPublished', data } as const;
      const command = { type: 'Record', data: event, meta } as const;
      const { kind } = await handle(data.artifact_id, command, data.tenant_id);
      return kind === 'done' ? published(data.artifact_id) : undefined;
    },
    /** An artifact that may be used: its tenant's, of a job that succeeded. */
    find: async (tenantId: string, artifactId: string): Promise<Artifact | undefined> => {
      const found = await published(artifactId);
      if (found?.tenant_id !== tenantId) return undefined;
      const { success } = await jobs.stateOf(found.job_id);
      return success?.artifact_id === artifactId ? found : undefined;
    },
    /** Whether its tenant was erased since: its bytes are gone. */
    isErased: async ({ tenant_id, published_at }: Artifact): Promise<boolean> =>
      ((await erasedAt(tenant_id)) ?? '') >= published_at,
    /** Its bytes, checked against their digest. Throws TamperedArtifact. */
    load: async ({ artifact_id, sha256: digest }: Pick<Artifact, 'artifact_id' | 'sha256'>) => {
      const bytes = await objects.get(artifactKeyOf(digest));
      if (bytes === undefined || sha256(bytes) !== digest)
        throw new TamperedArtifact(`the bytes of ${artifact_id} are missing or were changed`);
      return bytes;
    },
  };
};

interface DeploymentsDeps {
  readonly store: EventStore;
  readonly artifacts: Pick<Artifacts, 'find'>;
  readonly clock: Pick<Clock, 'newId'>;
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote: (tenantId: string, position: bigint) => void;
}

interface ActivationRequest {
  readonly scope: DeploymentScope;
  readonly artifact_id: string;
  /** undefined: not said. */
  readonly artifact_uri: string | undefined;
  readonly rollout: Rollout;
}

export type Deployments = ReturnType<typeof deployments>;

const rules = { decider: deployment, codec: eventCodec(deploymentEvent), streamOf: deploymentStream };

const artifactNotFound = (): WorkProblem =>
  workProblem(
    'artifact_not_found',
    'There is no such artifact of this tenant. Use the artifact_id of a job that succeeded.',
  );

/** Which artifact serves a scope. */
export const deployments = (deps: DeploymentsDeps) => {
  const { handle, stateOf } = streamsOf<DeploymentKind, DeploymentScope>(rules, deps.store);
  return {
    /** From the log: what is active in a scope, and what was before. */
    stateOf,
    activate: async (
      { scope, artifact_id, artifact_uri, rollout }: ActivationRequest,
      meta: CommandMeta,
    ): Promise<{ readonly kind: 'active'; readonly activation: Activation } | WorkProblem> => {
      if ((await deps.artifacts.find(scope.tenant_id, artifact_id)) === undefined) return artifactNotFound();
      const uri = artifactUriOf(artifact_id);
      if (artifact_uri !== undefined && artifact_uri !== uri)
        return misfit(['body', 'artifact_uri'], `The artifact_uri of this artifact is ${uri}.`);
      const deployment_id = deps.clock.newId('dep');
      const given = { deployment_id, ...scope, artifact_id, rollout };
      const data = { ...given, artifact_uri: uri, activated_by: meta.actor.key_id };
      const outcome = await handle(scope, { type: 'ActivateDeployment', meta, data }, scope.tenant_id);
      if (outcome.kind !== 'done' || outcome.state.active === null)
        return workProblem(
          'busy',
          'The deployment could not be written. Send the request again in a moment.',
        );
      if (outcome.position !== undefined) deps.wrote(scope.tenant_id, outcome.position);
      return { kind: 'active', activation: outcome.state.active };
    },
    /** False: it cannot be written now. A repeat changes nothing. */
    retire: async (scope: DeploymentScope, meta: CommandMeta): Promise<boolean> => {
      const outcome = await handle(scope, { type: 'RetireDeployments', meta, data: scope }, scope.tenant_id);
      if (outcome.kind === 'done' && outcome.position !== undefined)
        deps.wrote(scope.tenant_id, outcome.position);
      return outcome.kind === 'done';
    },
  };
};

/** What routes and the envelope call for training jobs, artifacts and deployments. */
export interface PipelineCommands {
  readonly createJob: ReturnType<typeof createTrainingJob>;
  readonly cancelJob: (name: JobName, meta: CommandMeta) => ReturnType<typeof cancelWork>;
  readonly exportExamples: ReturnType<typeof exportExamples>;
  /** What is kept of what a job was given, or why nothing is. */
  readonly keptInput: (job: CreatedJob) => ReturnType<typeof keptInput>;
  readonly jobs: TrainingJobs;
  readonly artifacts: Artifacts;
  readonly deployments: Deployments;
}
