import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Api } from '@quire/client';
import { useEffect } from 'react';
import { api } from '../../api/connection.ts';
import { useChange } from '../../api/hooks.ts';
import { pipelines } from '../../texts/pipelines.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { ProgressBar } from '../../ui/progressBar.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { isGoing, TONES } from './pipeline.ts';
import { Scores } from './scores.tsx';

const texts = pipelines.jobs;
const EACH_OF_ONE_MS = 1_500;

type Status = Awaited<ReturnType<Api['getTrainingJob']>>;

function Going({ job }: { job: Status }) {
  const cache = useQueryClient();
  const cancel = useChange('cancelTrainingJob');
  const { metric_calls, max_metric_calls } = job.progress;
  const send = async (): Promise<void> => {
    await cancel.mutateAsync({ path: { job_id: job.job_id } }).catch(() => undefined); // the note says it
    await cache.invalidateQueries({ queryKey: ['getTrainingJob'] });
    await cache.invalidateQueries({ queryKey: ['listTrainingJobs'] });
  };
  return (
    <div className="flex flex-col items-start gap-3">
      <div className="flex w-full max-w-2xl">
        <ProgressBar label={texts.progressName} value={metric_calls} max={max_metric_calls} />
      </div>
      <p aria-live="polite" className="text-soft">
        {texts.progress(metric_calls, max_metric_calls)}
      </p>
      <Button look="danger" isBusy={cancel.isPending} onClick={() => void send()}>
        {texts.cancel}
      </Button>
      <ProblemNote error={cancel.error} />
    </div>
  );
}

function Shown({ job }: { job: Status }) {
  if (isGoing(job.status)) return <Going job={job} />;
  if (job.error !== null)
    return (
      <p>
        <span className="font-medium">{texts.failed}:</span> {job.error.detail} <code>{job.error.code}</code>
      </p>
    );
  return <Scores all={{ baseline: job.baseline_score, best: job.best_score }} fields={job.per_field} />;
}

/** A training job as it goes on, then its scores. */
export function JobPanel({ job_id, onClose }: { job_id: string; onClose: () => void }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['getTrainingJob', job_id],
    queryFn: ({ signal }) => api.getTrainingJob({ path: { job_id } }, { signal }),
    refetchInterval: ({ state }) =>
      state.data === undefined || isGoing(state.data.status) ? EACH_OF_ONE_MS : false,
  });
  const status = data?.status;
  const isOver = status !== undefined && !isGoing(status);
  const cache = useQueryClient();
  useEffect(() => {
    if (!isOver) return;
    for (const name of ['listTrainingJobs', 'listArtifacts'])
      void cache.invalidateQueries({ queryKey: [name] });
  }, [cache, isOver]);
  return (
    <Card
      title={job_id}
      actions={
        <span className="flex items-center gap-2">
          {status !== undefined && (
            <Badge tone={TONES[status] ?? 'neutral'}>{pipelines.statuses[status]}</Badge>
          )}
          <Button size="small" look="quiet" onClick={onClose}>
            {texts.close}
          </Button>
        </span>
      }
    >
      <ProblemNote error={error} onRetry={() => void refetch()} />
      {data === undefined && error === null && <Skeleton lines={3} />}
      {data !== undefined && <Shown job={data} />}
    </Card>
  );
}
