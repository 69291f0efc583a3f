import { sha256 } from '../kernel/chain.ts';
import type { Command } from '../kernel/command.ts';
import { accept, type Decider, type StreamKind } from '../kernel/decider.ts';
import type { Activation, DeploymentEvent } from './events.ts';

export type ActivateDeployment = Command<'ActivateDeployment', Omit<Activation, 'replaces' | 'activated_at'>>;

interface DeploymentState {
  /** What was activated last. */
  readonly active: Activation | null;
  /** What serves the documents that a canary leaves out; null when there is none. */
  readonly base: Activation | null;
  /** The artifact to go back to. */
  readonly previous_artifact_id: string | null;
}

const isSame = ({ active }: DeploymentState, { data }: ActivateDeployment): boolean =>
  active?.artifact_id === data.artifact_id &&
  active.rollout.strategy === data.rollout.strategy &&
  active.rollout.percent === data.rollout.percent;

const retired = (gone: Activation, by: ActivateDeployment): DeploymentEvent => {
  const { deployment_id, tenant_id, project_id, task_id, environment, artifact_id } = gone;
  const scope = { tenant_id, project_id, task_id, environment };
  const { deployment_id: replaced_by } = by.data;
  return {
    type: 'DeploymentRetired',
    data: { deployment_id, ...scope, artifact_id, replaced_by, retired_at: by.meta.now },
  };
};

/** What serves nothing once the command took effect: a canary keeps the one that it stands beside. */
const replacedBy = (
  { active, base }: DeploymentState,
  command: ActivateDeployment,
): readonly Activation[] => {
  const serving = [active, base].filter((one) => one !== null);
  if (command.data.rollout.strategy === 'all_at_once') return serving;
  return serving.filter(({ deployment_id }) => deployment_id !== (base ?? active)?.deployment_id);
};

const evolve = (state: DeploymentState, { type, data }: DeploymentEvent): DeploymentState => {
  if (type === 'DeploymentActivated') {
    const { active, base } = state;
    const isCanary = data.rollout.strategy === 'canary';
    const kept = base ?? active;
    const before = isCanary ? kept : active;
    return { active: data, base: isCanary ? kept : null, previous_artifact_id: before?.artifact_id ?? null };
  }
  return state;
};

export type DeploymentKind = StreamKind<DeploymentState, ActivateDeployment, DeploymentEvent, never>;

/**
 * One active deployment of a scope. A canary stands beside the last deployment for all documents, and
 * going back is activating the artifact before. The same activation again does nothing.
 */
export const deployment: Decider<DeploymentKind> = {
  initialState: { active: null, base: null, previous_artifact_id: null },
  decide: (state, command) => {
    if (isSame(state, command)) return accept<DeploymentEvent>();
    const { now } = command.meta;
    const replaces = state.active?.artifact_id ?? null;
    return accept<DeploymentEvent>(
      { type: 'DeploymentActivated', data: { ...command.data, replaces, activated_at: now } },
      ...replacedBy(state, command).map((gone) => retired(gone, command)),
    );
  },
  evolve,
};

/** Hundredths from 0 to 99 by a document's digest; a canary that is widened keeps the documents it has. */
const hundredthOf = (documentSha256: string, { artifact_id }: Activation): number =>
  Number.parseInt(sha256(`${artifact_id}\u001f${documentSha256}`).slice(0, 12), 16) % 100;

/**
 * The deployment that a document meets: always the same one while the deployments stay. null where
 * nothing is active.
 */
export const deploymentFor = (
  { active, base }: DeploymentState,
  documentSha256: string,
): Activation | null => {
  if (active === null || base === null || active.rollout.strategy === 'all_at_once') return active;
  return hundredthOf(documentSha256, active) < active.rollout.percent ? active : base;
};
