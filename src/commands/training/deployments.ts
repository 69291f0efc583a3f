import { artifactUriOf } from '../../../domain/artifact/artifact.ts';
import { deployment, type DeploymentState } from '../../../domain/deployment/decider.ts';
import {
  deploymentEvent,
  deploymentStream,
  type Activation,
  type DeploymentScope,
  type Rollout,
} from '../../../domain/deployment/events.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../../domain/kernel/command.ts';
import type { Clock } from '../../../domain/ports/clock.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import type { Artifacts } from './artifacts.ts';
import { commandHandler } from '../writer/commandHandler.ts';
import { stateIn } from '../writer/streamFold.ts';
import { misfit, workProblem, type WorkProblem } from '../work/workProblem.ts';

export interface DeploymentsDeps {
  readonly store: EventStore;
  readonly artifacts: Pick<Artifacts, 'find'>;
  readonly clock: Pick<Clock, 'newId'>;
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote: (tenantId: string, position: bigint) => void;
}

export interface ActivationRequest {
  readonly scope: DeploymentScope;
  readonly artifact_id: string;
  /** undefined: not said. */
  readonly artifact_uri: string | undefined;
  readonly rollout: Rollout;
}

export interface Deployments {
  readonly activate: (
    request: ActivationRequest,
    meta: CommandMeta,
  ) => Promise<{ readonly kind: 'active'; readonly activation: Activation } | WorkProblem>;
  /** From the log: what is active in a scope, and what was before. */
  readonly stateOf: (scope: DeploymentScope) => Promise<DeploymentState>;
}

const codec = eventCodec(deploymentEvent);

const artifactNotFound = (): WorkProblem =>
  workProblem(
    'artifact_not_found',
    'There is no such artifact of this tenant. Use the artifact_id of a job that succeeded.',
  );

export const deployments = (deps: DeploymentsDeps): Deployments => {
  const { store } = deps;
  const handle = commandHandler({
    store,
    codec,
    decider: deployment,
    tenantOf: ({ data }) => data.tenant_id,
  });
  return {
    stateOf: (scope) => stateIn(store, deploymentStream(scope), { ...deployment, codec }),
    activate: async ({ scope, artifact_id, artifact_uri, rollout }, meta) => {
      if ((await deps.artifacts.find(scope.tenant_id, artifact_id)) === undefined) return artifactNotFound();
      const uri = artifactUriOf(artifact_id);
      if (artifact_uri !== undefined && artifact_uri !== uri)
        return misfit(['body', 'artifact_uri'], `The artifact_uri of this artifact is ${uri}.`);
      const deployment_id = deps.clock.newId('dep');
      const outcome = await handle(deploymentStream(scope), {
        type: 'ActivateDeployment',
        meta,
        data: {
          ...{ deployment_id, ...scope, artifact_id, rollout },
          artifact_uri: uri,
          activated_by: meta.actor.key_id,
        },
      });
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
