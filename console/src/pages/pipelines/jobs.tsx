import { Plus } from '../../ui/icons/icons.tsx';
import { useState } from 'react';
import { usePages } from '../../api/usePages.ts';
import { useTenantId } from '../../api/useSession.ts';
import { pipelines } from '../../texts/pipelines.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { useAddressValue } from '../../ui/go.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { DataTable, type Column } from '../../ui/table/dataTable.tsx';
import { Credits } from '../../ui/values/numbers.tsx';
import { Time } from '../../ui/values/time.tsx';
import { JobPanel } from './jobPanel.tsx';
import { isGoing, TONES, type Job } from './pipeline.ts';
import { StartDialog } from './startDialog.tsx';

const { columns: names, jobs: texts } = pipelines;

const statusText = (status: string): string =>
  (pipelines.statuses as Readonly<Record<string, string>>)[status] ?? status;

/** What is held while it goes on, then what was charged: nothing where it ended without a result. */
const creditsOf = ({ status, credits_charged, credits_held }: Job): number =>
  isGoing(status) ? credits_held : credits_charged;

const COLUMNS: readonly Column<Job>[] = [
  { id: 'name', name: names.name, value: ({ name, job_id }) => name ?? job_id, share: 2 },
  { id: 'project', name: names.project, value: ({ project_id }) => project_id },
  { id: 'task', name: names.task, value: ({ task_id }) => task_id },
  {
    id: 'status',
    name: names.status,
    value: ({ status }) => statusText(status),
    show: ({ status }) => <Badge tone={TONES[status] ?? 'neutral'}>{statusText(status)}</Badge>,
  },
  {
    id: 'credits',
    name: names.credits,
    value: creditsOf,
    show: (job) => <Credits value={creditsOf(job)} />,
    isNumber: true,
    share: 0.8,
  },
  {
    id: 'created',
    name: names.created,
    value: ({ created_at }) => created_at,
    show: ({ created_at }) => <Time at={created_at} />,
    share: 1.5,
  },
  {
    id: 'finished',
    name: names.finished,
    value: ({ finished_at }) => finished_at,
    show: ({ finished_at }) => <Time at={finished_at} />,
    share: 1.5,
  },
];

const EACH = 5_000;

/** The training jobs, and one of them as it goes on. */
export function Jobs() {
  const tenant_id = useTenantId();
  const [job, choose] = useAddressValue('job');
  const [isStarting, start] = useState(false);
  const list = usePages('listTrainingJobs', { query: { tenant_id } }, { refetchInterval: EACH });
  const open = (
    <Button look="primary" onClick={() => start(true)}>
      <Plus aria-hidden className="size-4" />
      {pipelines.start.open}
    </Button>
  );
  return (
    <div className="flex flex-col gap-4">
      <ProblemNote error={list.error} onRetry={list.again} />
      {job !== undefined && <JobPanel job_id={job} onClose={() => choose(undefined)} />}
      {list.error === null && (
        <DataTable
          label={texts.list}
          columns={COLUMNS}
          items={list.items}
          idOf={({ job_id }) => job_id}
          onOpen={({ job_id }) => choose(job_id)}
          onMore={list.more}
          isLoadingMore={list.isLoadingMore}
          actions={open}
          empty={
            <Empty title={texts.empty.title} say={texts.empty.say}>
              {open}
            </Empty>
          }
        />
      )}
      {isStarting && <StartDialog onStarted={choose} onClose={() => start(false)} />}
    </div>
  );
}
