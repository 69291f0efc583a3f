import { useQueryClient } from '@tanstack/react-query';
import type { Audit, AuditFinding, AuditItem } from '@quire/client';
import { useEffect, useState } from 'react';
import { useChange, useRead } from '../../../api/hooks.ts';
import { audit } from '../../../texts/audit.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { ProgressBar } from '../../../ui/progressBar.tsx';
import { DataTable, type Column } from '../../../ui/table/dataTable.tsx';
import { Time } from '../../../ui/values/time.tsx';
import { Report } from './report.tsx';

const texts = audit.audits;
const { columns: names } = texts;

const TONES = {
  running: 'accent',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'neutral',
  interrupted: 'warn',
} as const;

function Status({ status }: Pick<Audit, 'status'>) {
  return <Badge tone={TONES[status]}>{texts.status[status]}</Badge>;
}

const COLUMNS: readonly Column<AuditItem>[] = [
  {
    id: 'started',
    name: names.started,
    value: (a) => a.started_at,
    show: (a) => <Time at={a.started_at} />,
    share: 2,
  },
  { id: 'by', name: names.by, value: (a) => a.started_by },
  { id: 'status', name: names.status, value: (a) => a.status, show: (a) => <Status status={a.status} /> },
  { id: 'events', name: names.events, value: (a) => a.events, isNumber: true },
  { id: 'findings', name: names.findings, value: (a) => a.findings, isNumber: true },
];

/** How far an audit is, while it runs. */
function Progress({ running }: { running: Audit }) {
  const stop = useChange('cancelAudit');
  const { position, end_position: end, stage, audit_id } = running;
  const [done, all] = [Number(position ?? 0), Number(end ?? 0)];
  return (
    <div className="flex flex-wrap items-center gap-3">
      <ProgressBar label={texts.progress} value={done} max={all} />
      <span className="text-[13px] text-soft">
        {texts.stage[stage]}
        {position !== null && end !== null && `, ${texts.of(position, end)}`}
      </span>
      <Button size="small" isBusy={stop.isPending} onClick={() => stop.mutate({ path: { audit_id } })}>
        {texts.stop}
      </Button>
      <ProblemNote error={stop.error} />
    </div>
  );
}

interface OneAuditProps {
  readonly auditId: string;
  readonly onShow: (finding: AuditFinding) => void;
}

/** One audit, read again until it has ended. */
function OneAudit({ auditId, onShow }: OneAuditProps) {
  const [isRunning, run] = useState(true);
  const cache = useQueryClient();
  const one = useRead('getAudit', { path: { audit_id: auditId } }, isRunning ? { refetchInterval: 700 } : {});
  const status = one.data?.status;
  useEffect(() => {
    if (status === undefined || status === 'running') return;
    run(false);
    void cache.invalidateQueries({ queryKey: ['listAudits'] });
    void cache.invalidateQueries({ queryKey: ['listSeals'] });
  }, [status, cache]);
  if (one.error !== null) return <ProblemNote error={one.error} onRetry={() => void one.refetch()} />;
  if (one.data === undefined) return null;
  const { report, error } = one.data;
  return (
    <section aria-label={texts.result} className="flex flex-col gap-4">
      <p className="flex items-center gap-2">
        <Status status={one.data.status} /> <Time at={one.data.started_at} />
        {error !== null && <span className="break-words text-bad">{error}</span>}
      </p>
      {one.data.status === 'running' && <Progress running={one.data} />}
      {report !== null && <Report report={report} onShow={onShow} />}
    </section>
  );
}

function Check({ name, is, onChange }: { name: string; is: boolean; onChange: (is: boolean) => void }) {
  return (
    <label className="flex items-center gap-2">
      <input type="checkbox" checked={is} onChange={({ target }) => onChange(target.checked)} />
      {name}
    </label>
  );
}

/** Begins an audit. */
function RunForm({ onStarted }: { onStarted: (auditId: string) => void }) {
  const cache = useQueryClient();
  const start = useChange('startAudit');
  const [isLogOnly, setLogOnly] = useState(false);
  const [isAll, setAll] = useState(false);
  const run = (): void =>
    start.mutate(
      { body: { log_only: isLogOnly, all: isAll } },
      {
        onSuccess: ({ audit_id }) => {
          onStarted(audit_id);
          void cache.invalidateQueries({ queryKey: ['listAudits'] });
        },
      },
    );
  return (
    <Card>
      <p className="mb-3 text-soft">{texts.say}</p>
      <div className="flex flex-wrap items-center gap-4">
        <Button look="primary" isBusy={start.isPending} onClick={run}>
          {texts.run}
        </Button>
        <Check name={texts.logOnly} is={isLogOnly} onChange={setLogOnly} />
        <Check name={texts.all} is={isAll} onChange={setAll} />
      </div>
      <ProblemNote error={start.error} onRetry={run} />
    </Card>
  );
}

/** Audits that were run, and one of them in full. */
export function Audits({ onShow }: { onShow: (finding: AuditFinding) => void }) {
  const [chosen, choose] = useState<string>();
  const audits = useRead('listAudits', { query: { limit: 100 } });
  return (
    <div className="flex flex-col gap-4">
      <RunForm onStarted={choose} />
      {chosen !== undefined && <OneAudit key={chosen} auditId={chosen} onShow={onShow} />}
      <ProblemNote error={audits.error} onRetry={() => void audits.refetch()} />
      {audits.error === null && (
        <DataTable
          label={texts.list}
          columns={COLUMNS}
          items={audits.data?.items}
          idOf={({ audit_id }) => audit_id}
          onOpen={({ audit_id }) => choose(audit_id)}
          empty={<Empty title={texts.empty} say={texts.emptySay} />}
          height={300}
        />
      )}
    </div>
  );
}
