import { z } from 'zod';
import {
  accept,
  type Command,
  type CommandMeta,
  type Decider,
  event,
  recorder,
  type StreamKind,
} from './kernel/decider.ts';
import { instant, tenantId } from './kernel/amounts.ts';
import { fieldScore, score } from './trainingJob.ts';
import { sha256 } from './kernel/chain.ts';

/** What a job learned, stored whole under its digest in object storage. Never changes, never goes away. */
const artifactPublished = event('ArtifactPublished', {
  artifact_id: z.string(),
  job_id: z.string(),
  tenant_id: tenantId,
  project_id: z.string(),
  task_id: z.string(),
  /** Of the stored bytes, which are named by it. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().min(1),
  schema_sha256: z.string(),
  baseline_score: score,
  best_score: score,
  per_field: z.array(fieldScore),
  published_at: instant,
});

export type ArtifactPublished = z.output<typeof artifactPublished>;

export const artifactEvent = z.discriminatedUnion('type', [artifactPublished]);

export type ArtifactEvent = z.output<typeof artifactEvent>;

/** What a deployment serves: one place for each tenant, project, task and environment. */
const deploymentScope = z.strictObject({
  tenant_id: tenantId,
  project_id: z.string(),
  task_id: z.string(),
  environment: z.string(),
});

export type DeploymentScope = z.output<typeof deploymentScope>;

/** `percent` of the documents of a canary meet the new artifact; of all at once, all. */
const rollout = z.strictObject({
  strategy: z.enum(['all_at_once', 'canary']),
  percent: z.number().int().min(1).max(100),
});

export type Rollout = z.output<typeof rollout>;

const deploymentActivated = event('DeploymentActivated', {
  deployment_id: z.string(),
  ...deploymentScope.shape,
  artifact_id: z.string(),
  artifact_uri: z.string(),
  rollout,
  /** The artifact that was active before. */
  replaces: z.string().nullable(),
  activated_at: instant,
  activated_by: z.string(),
});

/** It serves no document any more. */
const deploymentRetired = event('DeploymentRetired', {
  deployment_id: z.string(),
  ...deploymentScope.shape,
  artifact_id: z.string(),
  /** null: nothing serves in its place, because its tenant was erased. */
  replaced_by: z.string().nullable(),
  retired_at: instant,
});

export const deploymentEvent = z.discriminatedUnion('type', [deploymentActivated, deploymentRetired]);

type DeploymentEvent = z.output<typeof deploymentEvent>;

export type Activation = z.output<typeof deploymentActivated>['data'];

export const artifactStream = (artifactId: string): string => `artifact-${artifactId}`;

/** An artifact is published once; a second publication does nothing. */
export const artifact = recorder<ArtifactEvent>(() => true);

/** Where the bytes of artifacts lie. */
export const ARTIFACTS_PREFIX = 'artifacts/';

export const artifactKeyOf = (digest: string): string => `${ARTIFACTS_PREFIX}${digest}`;

/** The reference that callers get; opaque to them. */
export const artifactUriOf = (artifactId: string): string => `quire://artifacts/${artifactId}`;

export type ActivateDeployment = Command<'ActivateDeployment', Omit<Activation, 'replaces' | 'activated_at'>>;

/** Takes whatever serves a scope out of it, and leaves nothing to go back to. */
export type RetireDeployments = Command<'RetireDeployments', DeploymentScope>;

interface DeploymentState {
  /** The artifact activated last. */
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

const retired = (
  gone: Activation,
  replaced_by: string | null,
  { now: retired_at }: CommandMeta,
): DeploymentEvent => {
  const { deployment_id, tenant_id, project_id, task_id, environment, artifact_id } = gone;
  const scope = { tenant_id, project_id, task_id, environment };
  return {
    type: 'DeploymentRetired',
    data: { deployment_id, ...scope, artifact_id, replaced_by, retired_at },
  };
};

const servingIn = ({ active, base }: DeploymentState): readonly Activation[] =>
  [active, base].filter((one) => one !== null);

/** What serves nothing once the command took effect: a canary keeps the one that it stands beside. */
const replacedBy = (state: DeploymentState, command: ActivateDeployment): readonly Activation[] => {
  const { active, base } = state;
  const serving = servingIn(state);
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
  if (data.replaced_by !== null) return state;
  const isLeft = (one: Activation | null) => one !== null && one.deployment_id !== data.deployment_id;
  const [active = null, base = null] = servingIn(state).filter(isLeft);
  return { active, base, previous_artifact_id: null };
};

export type DeploymentKind = StreamKind<
  DeploymentState,
  ActivateDeployment | RetireDeployments,
  DeploymentEvent,
  never
>;

/**
 * One active deployment of a scope. A canary stands beside the last deployment for all documents, and
 * going back is activating the artifact before. The same activation again does nothing.
 */
export const deployment: Decider<DeploymentKind> = {
  initialState: { active: null, base: null, previous_artifact_id: null },
  decide: (state, command) => {
    const { meta } = command;
    if (command.type === 'RetireDeployments')
      return accept<DeploymentEvent>(...servingIn(state).map((gone) => retired(gone, null, meta)));
    if (isSame(state, command)) return accept<DeploymentEvent>();
    const { deployment_id } = command.data;
    const replaces = state.active?.artifact_id ?? null;
    return accept<DeploymentEvent>(
      { type: 'DeploymentActivated', data: { ...command.data, replaces, activated_at: meta.now } },
      ...replacedBy(state, command).map((gone) => retired(gone, deployment_id, meta)),
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

/** The parts are encoded, so none can hold a colon and two scopes never share a stream. */
export const deploymentStream = ({ tenant_id, project_id, task_id, environment }: DeploymentScope): string =>
  `deployment-${[tenant_id, project_id, task_id, environment].map(encodeURIComponent).join(':')}`;
