import { decodeAny } from '../../domain/catalogue.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { accountsCheck } from '../../src/audit/accounts.ts';
import { auditedEvent } from '../../src/audit/auditedEvent.ts';
import { findingsKept } from '../../src/audit/findings.ts';
import { reference } from '../../src/audit/margin.ts';
import { compactSet } from '../../src/audit/streams.ts';

/** What the auditor finds of budgets in the events of one account: the sentences. */
export const budgetFindings = (events: readonly RecordedEvent[]): readonly string[] => {
  const findings = findingsKept(1_000);
  const books = { findings, reference: reference(findings), once: compactSet(), touch: () => undefined };
  const accounts = accountsCheck(books);
  for (const event of events) accounts.apply(auditedEvent(event, decodeAny(event)));
  accounts.finish('');
  return findings
    .result()
    .findings.filter(({ check }) => check === 'budget')
    .map(({ message }) => message);
};
