import { useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import { z } from 'zod';
import { useState } from 'react';
import { useChange, usePages } from '../../api/connection.ts';
import { pipelines } from '../../texts/pipelines.ts';
import { shell, statusName } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { GateFields, type Gated, gateOf, isGateRight, NO_GATE, PublishProblem } from '../../ui/gate.tsx';
import { Named, useArtifactNames } from '../../ui/names.tsx';
import { ProblemNote, Empty, Status } from '../../ui/states.tsx';
import { Scores, type Artifact, type Deployment } from './pipeline.tsx';
import { useTenantId } from '../../api/session.ts';
import { Card } from '../../ui/card.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/values.tsx';

/** What is activated, and where. */
interface Activation {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly task_id: string;
  readonly environment?: string;
  readonly artifact_id: string;
  readonly artifact_uri: string;
}

/** Makes a project use an artifact, for a share of its documents. */
const useActivate = (onDone: () => void) => {
  const cache = useQueryClient();
  const activate = useChange('activateDeployment');
  const run = async (activation: Activation, percent: number, gated: Gated = NO_GATE): Promise<void> => {
    const rollout = percent === 100 ? null : { strategy: 'canary' as const, percent };
    const answer = await activate
      .mutateAsync({ body: { ...activation, rollout, gate: gateOf(gated) } })
      .catch(() => undefined);
    if (answer === undefined) return;
    toast(pipelines.deploy.done);
    onDone();
    await cache.invalidateQueries({ queryKey: ['listDeployments'] });
  };
  return { run, error: activate.error, isBusy: activate.isPending };
};

const deployTexts = pipelines.deploy;
const schema = z.object({
  environment: z.string().trim().min(1, deployTexts.required).max(64, deployTexts.required),
  percent: z
    .number(deployTexts.badShare)
    .int(deployTexts.badShare)
    .min(1, deployTexts.badShare)
    .max(100, deployTexts.badShare),
});
type Values = z.infer<typeof schema>;

/** Deploys an artifact for all documents of its project, or a share of them. */
function DeployDialog({ of, onClose }: { of: Artifact; onClose: () => void }) {
  const { run, error, isBusy } = useActivate(onClose);
  const [gated, guard] = useState(NO_GATE);
  const { tenant_id, project_id, task_id, artifact_id, artifact_uri } = of;
  const send = async ({ environment, percent }: Values): Promise<void> => {
    if (!isGateRight(gated)) return;
    const scope = { tenant_id, project_id, task_id, environment };
    await run({ ...scope, artifact_id, artifact_uri }, percent, gated);
  };
  return (
    <Dialog isOpen onOpenChange={onClose} title={deployTexts.title} say={deployTexts.say}>
      <Form<Values> schema={schema} initial={{ environment: 'prod', percent: 100 }} onSubmit={send}>
        <ArtifactName id={artifact_id} />
        <TextField name="environment" label={deployTexts.environment} />
        <TextField name="percent" label={deployTexts.share} type="number" />
        <GateFields tenant_id={tenant_id} value={gated} onChange={guard} />
        <PublishProblem error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{shell.cancel}</Button>
          <Button look="primary" type="submit" isBusy={isBusy}>
            {deployTexts.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

const { columns: names } = pipelines;

function ArtifactName({ id }: { id: string }) {
  const artifactName = useArtifactNames(useTenantId());
  return <Named id={id}>{artifactName(id)}</Named>;
}

const { artifacts: artifactTexts } = pipelines;

const ARTIFACT_SORTS = {
  artifact: 'artifact_id',
  project: 'project_id',
  task: 'task_id',
  created: 'created_at',
} as const;

const SORTS = {
  project: 'project_id',
  task: 'task_id',
  environment: 'environment',
  status: 'status',
  artifact: 'artifact_id',
  activated: 'activated_at',
} as const;

const COLUMNS: readonly Column<Artifact>[] = [
  {
    id: 'artifact',
    name: names.artifact,
    value: ({ artifact_id }) => artifact_id,
    show: ({ artifact_id }) => <ArtifactName id={artifact_id} />,
    share: 2.4,
  },
  { id: 'project', name: names.project, value: ({ project_id }) => project_id },
  { id: 'task', name: names.task, value: ({ task_id }) => task_id },
  {
    id: 'before',
    name: names.before,
    value: ({ baseline_score }) => baseline_score,
    show: ({ baseline_score }) => pipelines.score(baseline_score),
    isNumber: true,
    share: 0.7,
  },
  {
    id: 'after',
    name: names.after,
    value: ({ best_score }) => best_score,
    show: ({ best_score }) => pipelines.score(best_score),
    isNumber: true,
    share: 0.7,
  },
  {
    id: 'created',
    name: names.created,
    value: ({ created_at }) => created_at,
    show: ({ created_at }) => <Time at={created_at} />,
    isWhole: true,
    share: 1.5,
  },
];

function Opened({ of }: { of: Artifact }) {
  const [isDeploying, deploy] = useState(false);
  return (
    <Card
      title={<ArtifactName id={of.artifact_id} />}
      actions={
        <Button look="primary" onClick={() => deploy(true)}>
          {artifactTexts.deploy}
        </Button>
      }
    >
      {of.learned_from_erased > 0 && (
        <p className="text-bad">{artifactTexts.learnedFromErased(of.learned_from_erased)}</p>
      )}
      <Scores all={{ baseline: of.baseline_score, best: of.best_score }} fields={of.per_field} />
      {isDeploying && <DeployDialog of={of} onClose={() => deploy(false)} />}
    </Card>
  );
}

/** What was learned, with its scores, ready to deploy. */
export function Artifacts() {
  const tenant_id = useTenantId();
  const list = usePages('listArtifacts', { query: { tenant_id } }, { sorts: ARTIFACT_SORTS });
  const [chosen, choose] = useState<string>();
  const opened = list.items?.find(({ artifact_id }) => artifact_id === chosen) ?? list.items?.[0];
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <div className="flex flex-col gap-4">
      <DataTable
        label={artifactTexts.list}
        columns={COLUMNS}
        list={list}
        idOf={({ artifact_id }) => artifact_id}
        onOpen={({ artifact_id }) => choose(artifact_id)}
        empty={<Empty title={artifactTexts.empty.title} say={artifactTexts.empty.say} />}
        height={320}
      />
      {opened !== undefined && <Opened key={opened.artifact_id} of={opened} />}
    </div>
  );
}

const { deployments: texts } = pipelines;

function BackDialog({ of, onClose }: { of: Deployment; onClose: () => void }) {
  const artifactName = useArtifactNames(of.tenant_id);
  const { run, error, isBusy } = useActivate(onClose);
  const { tenant_id, project_id, task_id, environment, artifact_id, artifact_uri } = of;
  const send = (): Promise<void> =>
    run({ tenant_id, project_id, task_id, environment, artifact_id, artifact_uri }, 100);
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={texts.confirm.title}
      say={texts.confirm.say(artifactName(artifact_id), project_id, environment)}
    >
      <ProblemNote error={error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button look="primary" isBusy={isBusy} onClick={() => void send()}>
          {texts.confirm.submit}
        </Button>
      </div>
    </Dialog>
  );
}

const isCanary = ({ status, rollout }: Deployment): boolean => status === 'active' && rollout.percent < 100;

const scopeOf = ({ project_id, task_id, environment }: Deployment): string =>
  JSON.stringify([project_id, task_id, environment]);

/** What the button of a deployment does; undefined: it serves all documents already. */
const wayOf = (of: Deployment, all: readonly Deployment[]): string | undefined => {
  if (isCanary(of)) return texts.widen;
  const hasCanary = all.some((other) => isCanary(other) && scopeOf(other) === scopeOf(of));
  return of.status === 'active' && !hasCanary ? undefined : texts.back;
};

const columnsOf = (
  all: readonly Deployment[],
  onBack: (deployment: Deployment) => void,
): readonly Column<Deployment>[] => [
  { id: 'project', name: names.project, value: ({ project_id }) => project_id, share: 0.8 },
  { id: 'task', name: names.task, value: ({ task_id }) => task_id, share: 0.8 },
  { id: 'environment', name: names.environment, value: ({ environment }) => environment, share: 1 },
  {
    id: 'status',
    name: names.status,
    value: ({ status }) => statusName(status),
    show: ({ status }) => <Status status={status} />,
    share: 0.8,
  },
  {
    id: 'share',
    name: names.share,
    value: ({ rollout }) => rollout.percent,
    show: ({ rollout }) => pipelines.percent(rollout.percent),
    isNumber: true,
    share: 0.7,
  },
  {
    id: 'artifact',
    name: names.artifact,
    value: ({ artifact_id }) => artifact_id,
    show: ({ artifact_id }) => <ArtifactName id={artifact_id} />,
    share: 2,
  },
  {
    id: 'activated',
    name: names.activated,
    value: ({ activated_at }) => activated_at,
    show: ({ activated_at }) => <Time at={activated_at} />,
    isWhole: true,
    share: 1.5,
  },
  {
    id: 'actions',
    name: names.actions,
    value: () => undefined,
    show: (item) => {
      const way = wayOf(item, all);
      if (way === undefined) return null;
      return (
        <Button size="small" onClick={() => onBack(item)}>
          {way}
        </Button>
      );
    },
    isWhole: true,
    share: 1.4,
  },
];

/** What serves which project, and what did before: each may be gone back to. */
export function Deployments() {
  const tenant_id = useTenantId();
  const list = usePages('listDeployments', { query: { tenant_id } }, { sorts: SORTS });
  const [chosen, choose] = useState<Deployment>();
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <>
      <DataTable
        label={texts.list}
        columns={columnsOf(list.items ?? [], choose)}
        list={list}
        idOf={({ deployment_id }) => deployment_id}
        empty={<Empty title={texts.empty.title} say={texts.empty.say} />}
      />
      {chosen !== undefined && <BackDialog of={chosen} onClose={() => choose(undefined)} />}
    </>
  );
}
