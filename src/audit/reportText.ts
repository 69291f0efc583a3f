import { BALANCE_COLUMNS, type BalanceAt } from './money/balancesAt.ts';
import type { Finding } from './findings.ts';
import type { AuditReport } from './runAudit.ts';

const grouped = (n: number): string => n.toLocaleString('en-US');

const placeText = ({ stream, revision, position }: Finding): string => {
  const parts = [
    stream,
    revision === undefined ? undefined : `revision ${revision}`,
    position === undefined ? undefined : `position ${position}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? '' : `    at ${parts.join(', ')}\n`;
};

const findingText = (finding: Finding): string => {
  const { message, tenant_id, expected, found } = finding;
  const lines = [
    `  - ${message}\n`,
    placeText(finding),
    tenant_id === undefined ? '' : `    tenant ${tenant_id}\n`,
    expected === undefined ? '' : `    expected ${expected}\n`,
    found === undefined ? '' : `    found    ${found}\n`,
  ];
  return lines.join('');
};

const headerText = ({ facts, read_models }: AuditReport): string => {
  const span = facts.first_at === null ? 'empty' : `${facts.first_at} to ${facts.last_at ?? ''}`;
  const compared =
    read_models === null
      ? 'the event log alone'
      : `the event log and ${String(read_models.length)} read models`;
  return [
    `${grouped(facts.events)} events in ${grouped(facts.streams)} streams of ` +
      `${grouped(facts.tenants)} tenants, up to position ${facts.position ?? '-'}\n`,
    `${span}\n`,
    `audited: ${compared}\n\n`,
  ].join('');
};

const checksText = ({ checks, findings }: AuditReport): string =>
  checks
    .map(({ check, about, checked, findings: count }) => {
      if (count === 0) return `✔ ${about} (${grouped(checked)})\n`;
      const shown = findings.filter((finding) => finding.check === check);
      const more = count - shown.length;
      return [
        `✘ ${about}: ${grouped(count)} found, ${grouped(checked)} checked\n`,
        ...shown.map(findingText),
        more > 0 ? `  … and ${grouped(more)} more; --all shows them\n` : '',
      ].join('');
    })
    .join('');

/** The report of an audit, to be read by a person. */
export const reportText = (report: AuditReport): string => {
  const notes = report.notes.map((note) => `· ${note}\n`).join('');
  const verdict = report.total === 0 ? 'Nothing is wrong.\n' : `${grouped(report.total)} things are wrong.\n`;
  return `${headerText(report)}${checksText(report)}${notes === '' ? '' : `\n${notes}`}\n${verdict}`;
};

const TEXT_COLUMNS = 2;

/** Balances at a moment as a table. */
export const balancesText = (balances: readonly BalanceAt[]): string => {
  const columns = Object.keys(BALANCE_COLUMNS) as (keyof BalanceAt)[];
  const titles: readonly string[] = Object.values(BALANCE_COLUMNS);
  const lines = [titles, ...balances.map((row) => columns.map((column) => row[column] ?? '-'))];
  const widths = titles.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const cell = (text: string, at: number) =>
    at < TEXT_COLUMNS ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0);
  return lines.map((line) => `${line.map(cell).join('  ').trimEnd()}\n`).join('');
};
