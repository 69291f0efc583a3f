import { Pause, Play } from '../../ui/icons/icons.tsx';
import { useState } from 'react';
import { useRead } from '../../api/hooks.ts';
import { operation as texts } from '../../texts/operation.ts';
import { Button } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/pageHeader.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Limits, Models, Slots, Work } from './load.tsx';
import { Replicas } from './replicas.tsx';
import { Figures, Parts } from './service.tsx';

const SECONDS = 5;

/** Operation; read again while it is seen. */
export default function OperationPage() {
  const [isPaused, pause] = useState(false);
  const state = useRead('getServiceState', {}, isPaused ? {} : { refetchInterval: SECONDS * 1_000 });
  const Icon = isPaused ? Play : Pause;
  return (
    <>
      <PageHeader title={texts.title} say={texts.say}>
        <span className="text-[13px] text-soft">{isPaused ? texts.paused : texts.every(SECONDS)}</span>
        <Button onClick={() => pause(!isPaused)}>
          <Icon aria-hidden className="size-4" />
          {isPaused ? texts.resume : texts.pause}
        </Button>
      </PageHeader>
      <div className="flex flex-col gap-4">
        <ProblemNote error={state.error} onRetry={() => void state.refetch()} />
        {state.isPending && <Skeleton lines={8} className="h-10" />}
        {state.data !== undefined && (
          <>
            <Figures state={state.data} />
            <div className="grid items-start gap-4 lg:grid-cols-2">
              <div className="flex flex-col gap-4">
                <Parts parts={state.data.parts} />
                <Work work={state.data.work} />
              </div>
              <div className="flex flex-col gap-4">
                <Slots slots={state.data.slots} maxUploadBytes={state.data.max_upload_bytes} />
                <Limits buckets={state.data.rate_limits} />
              </div>
            </div>
            <Replicas replicas={state.data.replicas} />
            <Models models={state.data.read_models} />
          </>
        )}
      </div>
    </>
  );
}
