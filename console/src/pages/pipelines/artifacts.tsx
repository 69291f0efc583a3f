import { useState } from 'react';
import { usePages } from '../../api/usePages.ts';
import { useTenantId } from '../../api/useSession.ts';
import { pipelines } from '../../texts/pipelines.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { DataTable, type Column } from '../../ui/table/dataTable.tsx';
import { Time } from '../../ui/values/time.tsx';
import { DeployDialog } from './deployDialog.tsx';
import type { Artifact } from './pipeline.ts';
import { Scores } from './scores.tsx';

const { columns: names } = pipelines;
const { artifacts: artifactTexts } = pipelines;

const COLUMNS: readonly Column<Artifact>[] = [
  { id: 'artifact', name: names.artifact, value: ({ artifact_id }) => artifact_id, share: 2.4 },
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
    share: 1.5,
  },
];

function Opened({ of }: { of: Artifact }) {
  const [isDeploying, deploy] = useState(false);
  return (
    <Card
      title={of.artifact_id}
      actions={
        <Button look="primary" onClick={() => deploy(true)}>
          {artifactTexts.deploy}
        </Button>
      }
    >
      <Scores all={{ baseline: of.baseline_score, best: of.best_score }} fields={of.per_field} />
      {isDeploying && <DeployDialog of={of} onClose={() => deploy(false)} />}
    </Card>
  );
}

/** What was learned, with its scores, ready to deploy. */
export function Artifacts() {
  const tenant_id = useTenantId();
  const list = usePages('listArtifacts', { query: { tenant_id } });
  const [chosen, choose] = useState<string>();
  const opened = list.items?.find(({ artifact_id }) => artifact_id === chosen) ?? list.items?.[0];
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <div className="flex flex-col gap-4">
      <DataTable
        label={artifactTexts.list}
        columns={COLUMNS}
        items={list.items}
        idOf={({ artifact_id }) => artifact_id}
        onOpen={({ artifact_id }) => choose(artifact_id)}
        onMore={list.more}
        isLoadingMore={list.isLoadingMore}
        empty={<Empty title={artifactTexts.empty.title} say={artifactTexts.empty.say} />}
        height={320}
      />
      {opened !== undefined && <Opened key={opened.artifact_id} of={opened} />}
    </div>
  );
}
