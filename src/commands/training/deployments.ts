import {
  type Activation,
  artifactUriOf,
  deployment,
  deploymentEvent,
  type DeploymentKind,
  type DeploymentScope,
  deploymentStream,
  type Rollout,
} from '../../../domain/deployment.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import type { Clock, EventStore } from '../../../domain/ports/log.ts';
import type { Artifacts } from './artifacts.ts';
import { streamsOf } from '../writer/streams.ts';
import { misfit, workProblem, type WorkProblem } from '../work/workProblem.ts';

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
  };
};
