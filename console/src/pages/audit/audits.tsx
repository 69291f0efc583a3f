import type { AuditFinding, AuditReport, Audit, AuditItem } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { audit } from '../../texts/audit.ts';
import { statusName } from '../../texts/shell.ts';
import { Badge, Card } from '../../ui/card.tsx';
import { Button } from '../../ui/button.tsx';
import { useChange, usePages, useRead } from '../../api/connection.ts';
import { Empty, ProblemNote, ProgressBar, Status } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Operator } from '../../ui/names.tsx';
import { Time } from '../../ui/values.tsx';

const texts = audit.audits;
const count = (value: number): string => value.toLocaleString('en');

type Show = (finding: AuditFinding) => void;

const placeOf = ({ stream, revision, position, table, key, column }: AuditFinding): string =>
  [
    stream,
    revision === undefined ? undefined : audit.list.revision(revision),
    position === undefined ? undefined : audit.list.position(position),
    table,
    key,
    column,
  ]
    .filter((part) => part !== undefined)
    .join(' · ');

function Finding({ finding, onShow }: { finding: AuditFinding; onShow: Show }) {
  const { check, message, expected, found, stream } = finding;
  return (
    <li className="flex flex-wrap items-start gap-2 py-2">
      <Badge tone="bad">{check}</Badge>
      <div className="min-w-0 flex-1">
        <p className="break-words">{message}</p>
        <p className="text-[13px] break-all text-soft">{placeOf(finding)}</p>
        {expected !== undefined && (
          <p className="text-[13px] break-all">
            {texts.expected}: <code>{expected}</code>
          </p>
        )}
        {found !== undefined && (
          <p className="text-[13px] break-all">
            {texts.found}: <code>{found}</code>
          </p>
        )}
      </div>
      {stream !== undefined && (
        <Button size="small" onClick={() => onShow(finding)}>
          {audit.chain.show}
        </Button>
      )}
    </li>
  );
}

/** What an audit found, check by check. */
function Report({ report, onShow }: { report: AuditReport; onShow: Show }) {
  const { checks, findings, notes, facts, total } = report;
  return (
    <div className="flex flex-col gap-4">
      <Card title={total === 0 ? texts.clean : texts.wrong(total)}>
        <p>{texts.read(count(facts.events), count(facts.streams), count(facts.tenants))}</p>
        {findings.length < total && <p className="text-soft">{texts.kept}</p>}
        <ul aria-label={texts.findings} className="divide-y divide-line/60">
          {findings.map((finding, n) => (
            <Finding key={n} finding={finding} onShow={onShow} />
          ))}
        </ul>
      </Card>
      {notes.length > 0 && (
        <Card title={texts.notes}>
          <ul className="list-disc pl-5">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Card>
      )}
      <Card title={texts.checks}>
        <ul className="divide-y divide-line/60">
          {checks.map(({ check, about, checked, findings: wrong }) => (
            <li key={check} className="flex flex-wrap items-baseline gap-x-3 py-2">
              <Badge tone={wrong === 0 ? 'good' : 'bad'}>{check}</Badge>
              <span className="min-w-0 flex-1">{about}</span>
              <span className="text-soft">
                {count(checked)} · {texts.wrong(wrong)}
              </span>
            </li>
          ))}
        </ul>
      </Card>
    </div>
  );
}

const { columns: names } = texts;

const COLUMNS: readonly Column<AuditItem>[] = [
  {
    id: 'started',
    name: names.started,
    value: (a) => a.started_at,
    show: (a) => <Time at={a.started_at} />,
    isWhole: true,
    share: 2,
  },
  {
    id: 'by',
    name: names.by,
    value: (a) => a.started_by,
    show: (a) => <Operator id={a.started_by} />,
    share: 1.4,
  },
  {
    id: 'status',
    name: names.status,
    value: (a) => statusName(a.status),
    show: (a) => <Status status={a.status} />,
  },
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
  const audits = usePages('listAudits', {});
  return (
    <div className="flex flex-col gap-4">
      <RunForm onStarted={choose} />
      {chosen !== undefined && <OneAudit key={chosen} auditId={chosen} onShow={onShow} />}
      <ProblemNote error={audits.error} onRetry={audits.again} />
      {audits.error === null && (
        <DataTable
          label={texts.list}
          columns={COLUMNS}
          list={audits}
          idOf={({ audit_id }) => audit_id}
          onOpen={({ audit_id }) => choose(audit_id)}
          empty={<Empty title={texts.empty} say={texts.emptySay} />}
          height={300}
        />
      )}
    </div>
  );
}
