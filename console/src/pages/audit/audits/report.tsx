import type { AuditFinding, AuditReport } from '@quire/client';
import { audit } from '../../../texts/audit.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';

const texts = audit.audits;
const count = (value: number): string => value.toLocaleString('en');

type Show = (finding: AuditFinding) => void;

const placeOf = ({ stream, revision, position, table, key, column }: AuditFinding): string =>
  [
    stream,
    revision === undefined ? undefined : audit.list.revision(revision),
    position === undefined ? undefined : audit.list.position(position),
    ...[table, key, column],
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
export function Report({ report, onShow }: { report: AuditReport; onShow: Show }) {
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
