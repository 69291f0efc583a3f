import type { Run } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { useChange, useRead } from '../../api/connection.ts';
import { runs as texts } from '../../texts/runs.ts';
import { kindName } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Card, PageHeader } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Downloads } from '../../ui/download.tsx';
import { Go } from '../../ui/go.tsx';
import { Named, useActorNames, useConfigNames } from '../../ui/names.tsx';
import { ProblemNote, Skeleton, Status } from '../../ui/states.tsx';
import { Copy, Credits, Time } from '../../ui/values.tsx';
import { filesOf, workbookOf } from '../../document/files.ts';
import { CodeTab } from '../../document/requestCode.tsx';
import { optionsOf } from '../../document/runOptions.tsx';
import { CompareRuns } from './compare.tsx';
import { nameOf } from './list.tsx';
import type { ReactNode } from 'react';

const { one, columns } = texts;

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-[13px] text-soft">{name}</dt>
      <dd className="break-words">{children}</dd>
    </div>
  );
}

function Id({ id }: { id: string }) {
  return (
    <span className="flex items-center gap-1">
      <code className="min-w-0 truncate text-[13px]">{id}</code>
      <Copy text={id} />
    </span>
  );
}

/** Who asked, when, how, and what it cost. */
function Facts({ run }: { run: Run }) {
  const keyName = useActorNames(run.tenant_id);
  const configName = useConfigNames(run.tenant_id);
  const tags = Object.entries(run.tags).map(([name, value]) => `${name}: ${value}`);
  return (
    <dl className="grid grid-cols-1 gap-3 sm:grid-cols-3 lg:grid-cols-4">
      <Fact name={columns.kind}>{kindName(run.kind)}</Fact>
      <Fact name={columns.status}>
        <Status status={run.status} />
      </Fact>
      <Fact name={columns.credits}>
        {run.credits_used === null ? '–' : <Credits value={run.credits_used} />}
      </Fact>
      <Fact name={columns.pages}>{run.pages ?? '–'}</Fact>
      <Fact name={columns.requested}>
        <Time at={run.requested_at} />
      </Fact>
      <Fact name={columns.duration}>{run.duration_ms === null ? '–' : texts.seconds(run.duration_ms)}</Fact>
      <Fact name={columns.who}>{keyName(run.key_id)}</Fact>
      <Fact name={columns.kept}>{run.kept_until === null ? texts.gone : <Time at={run.kept_until} />}</Fact>
      <Fact name={one.mode}>{run.mode ?? '–'}</Fact>
      <Fact name={one.model}>{run.model ?? '–'}</Fact>
      {run.config_id !== null && (
        <Fact name={columns.config}>
          <Named id={run.config_id}>{configName(run.config_id)}</Named>
        </Fact>
      )}
      {tags.length > 0 && <Fact name={one.tags}>{tags.join(', ')}</Fact>}
      <Fact name={one.id}>
        <Id id={run.run_id} />
      </Fact>
      {run.document_id !== null && (
        <Fact name={one.document}>
          <Id id={run.document_id} />
        </Fact>
      )}
    </dl>
  );
}

/** Erases the document, once it was asked for twice. */
function Delete({ documentId }: { documentId: string }) {
  const [isOpen, open] = useState(false);
  const cache = useQueryClient();
  const erase = useChange('eraseDocument');
  const run = async (): Promise<void> => {
    await erase.mutateAsync({ path: { document_id: documentId } });
    open(false);
    toast.success(one.deleted);
    await cache.invalidateQueries();
  };
  return (
    <>
      <Button look="danger" onClick={() => open(true)}>
        {one.delete}
      </Button>
      <Dialog isOpen={isOpen} onOpenChange={open} title={one.deleteTitle} say={one.deleteSay}>
        <ProblemNote error={erase.error} />
        <Button
          look="danger"
          className="self-end"
          isBusy={erase.isPending}
          onClick={() => void run().catch(() => undefined)}
        >
          {one.delete}
        </Button>
      </Dialog>
    </>
  );
}

const WORKING = new Set(['queued', 'running']);
const AGAIN_MS = 2_000;

/** Ways from a run: to the others, beside its document, to its review. */
function Ways({ run }: { run: Run }) {
  const { run_id, kind, document_id, review_id } = run;
  return (
    <div className="flex flex-wrap items-center gap-4">
      <Go to="/runs">{one.back}</Go>
      {document_id !== null && <Go to={`/runs?document_id=${document_id}`}>{one.of}</Go>}
      {kind !== 'training' && (
        <Go to={`/playground?run=${run_id}`} className="font-medium text-accent hover:underline">
          {one.open}
        </Go>
      )}
      {review_id !== null && <Go to={`/reviews/${review_id}`}>{one.review}</Go>}
    </div>
  );
}

/** The request as a program sends it. */
function Asked({ run }: { run: Run }) {
  const { request } = run;
  const schema = request?.['schema'];
  if (schema == null) return null;
  const isPartialAllowed = request?.['allow_partial'] === true;
  return (
    <Card title={one.code}>
      <CodeTab
        name={nameOf(run)}
        schema={JSON.stringify(schema, undefined, 2)}
        options={{ ...optionsOf(request), isPartialAllowed }}
      />
    </Card>
  );
}

/** The result as files, and beside that of another run. */
function Result({ run }: { run: Run }) {
  const { result, kind, run_id } = run;
  if (result === null) return null;
  const isData = kind === 'extract';
  return (
    <>
      <Downloads files={filesOf(result, nameOf(run), isData ? workbookOf(run_id) : undefined)} />
      {isData && <CompareRuns run={run} />}
      {isData && <Asked run={run} />}
    </>
  );
}

/** One run: its facts, its result as files, and the way to it beside its document. */
export function OneRun({ runId }: { runId: string }) {
  const [isWorking, tell] = useState(false);
  const read = useRead('getRun', { path: { run_id: runId } }, isWorking ? { refetchInterval: AGAIN_MS } : {});
  const run = read.data;
  if (run !== undefined && WORKING.has(run.status) !== isWorking) tell(!isWorking);
  if (run === undefined)
    return read.error === null ? (
      <Skeleton lines={8} />
    ) : (
      <ProblemNote error={read.error} onRetry={() => void read.refetch()} />
    );
  return (
    <>
      <PageHeader title={nameOf(run)} say={kindName(run.kind)} />
      <div className="flex flex-col gap-4">
        <Ways run={run} />
        <Card>
          <Facts run={run} />
        </Card>
        {run.error !== null && (
          <Card title={one.why}>
            <p className="text-bad">{run.error.detail}</p>
          </Card>
        )}
        <Result run={run} />
        {run.document_id !== null && run.file_name !== null && (
          <div>
            <Delete documentId={run.document_id} />
          </div>
        )}
      </div>
    </>
  );
}
