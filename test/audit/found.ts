import { expect } from 'chai';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { Check, Finding } from '../../src/audit/findings.ts';
import type { AuditReport } from '../../src/audit/runAudit.ts';
import type { StoredEvent } from './tampering.ts';

export const dataOf = ({ data }: StoredEvent) => JSON.parse(data) as Record<string, unknown> & JsonObject;

/** The findings of one check about one event. */
export const about = ({ findings }: AuditReport, check: Check, at: Partial<Finding>): readonly Finding[] =>
  findings.filter(
    (finding) =>
      finding.check === check &&
      Object.entries(at).every(([member, value]) => finding[member as keyof Finding] === value),
  );

export const expectFound = (report: AuditReport, check: Check, at: Partial<Finding>): void => {
  const found = about(report, check, at);
  expect(found, `${check} ${JSON.stringify(at)} in ${JSON.stringify(report.findings, null, 1)}`).not.to.be
    .empty;
};

export const placeOf = ({ stream, revision }: StoredEvent) => ({ stream, revision: String(revision) });
