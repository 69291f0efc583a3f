import { useState } from 'react';
import { usePages } from '../../api/usePages.ts';
import { useTenantId } from '../../api/useSession.ts';
import { pipelines } from '../../texts/pipelines.ts';
import { shell } from '../../texts/shell.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { DataTable, type Column } from '../../ui/table/dataTable.tsx';
import { Time } from '../../ui/values/time.tsx';
import { TONES, type Deployment } from './pipeline.ts';
import { useActivate } from './useActivate.ts';

const { columns: names } = pipelines;
const { deployments: texts } = pipelines;

function BackDialog({ of, onClose }: { of: Deployment; onClose: () => void }) {
  const { run, error, isBusy } = useActivate(onClose);
  const { tenant_id, project_id, task_id, environment, artifact_id, artifact_uri } = of;
  const send = (): Promise<void> =>
    run({ tenant_id, project_id, task_id, environment, artifact_id, artifact_uri }, 100);
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={texts.confirm.title}
      say={texts.confirm.say(artifact_id, project_id, environment)}
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
    value: ({ status }) => pipelines.statuses[status],
    show: ({ status }) => <Badge tone={TONES[status] ?? 'neutral'}>{pipelines.statuses[status]}</Badge>,
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
  { id: 'artifact', name: names.artifact, value: ({ artifact_id }) => artifact_id, share: 2 },
  {
    id: 'activated',
    name: names.activated,
    value: ({ activated_at }) => activated_at,
    show: ({ activated_at }) => <Time at={activated_at} />,
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
    share: 1.4,
  },
];

/** What serves which project, and what did before: each may be gone back to. */
export function Deployments() {
  const tenant_id = useTenantId();
  const list = usePages('listDeployments', { query: { tenant_id } });
  const [chosen, choose] = useState<Deployment>();
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <>
      <DataTable
        label={texts.list}
        columns={columnsOf(list.items ?? [], choose)}
        items={list.items}
        idOf={({ deployment_id }) => deployment_id}
        onMore={list.more}
        isLoadingMore={list.isLoadingMore}
        empty={<Empty title={texts.empty.title} say={texts.empty.say} />}
      />
      {chosen !== undefined && <BackDialog of={chosen} onClose={() => choose(undefined)} />}
    </>
  );
}
