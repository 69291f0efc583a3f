import { expect } from 'chai';
import { operationIdOfDocument } from '../../domain/batch.ts';
import { findingsKept } from '../../src/audit/findings.ts';
import type { AuditedEvent } from '../../src/audit/auditedEvent.ts';
import { batchesCheck } from '../../src/audit/works.ts';

const BATCH = { batch_id: 'bat_1', tenant_id: 'acme' };

const eventOf = (stream: string, type: string, data: object): AuditedEvent =>
  ({ stream, type, data, revision: 0n, position: 1n, metadata: {}, id: '' }) as unknown as AuditedEvent;
const ofBatch = (type: string, data: object = {}) => eventOf('batch-bat_1', type, { ...BATCH, ...data });

const accepted = ofBatch('BatchAccepted', { document_ids: ['doc_0', 'doc_1', 'doc_2'] });
const begun = (first: number, count: number) => ofBatch('BatchDocumentsBegun', { first, count });
const refused = (index: number) =>
  ofBatch('BatchDocumentsRefused', { refused: [{ index, code: 'unreadable_file' }] });
const cancelled = ofBatch('BatchCancelled');
const ended = (came: object, credits_charged = 40) =>
  ofBatch('BatchEnded', {
    succeeded: 0,
    partial: 0,
    failed: 0,
    cancelled: 0,
    pages: 1,
    ...came,
    credits_charged,
  });

const ofOperation = (index: number, type: string, data: object = {}) => {
  const operation_id = operationIdOfDocument({ ...BATCH, index });
  return eventOf(`operation-${operation_id}`, type, { operation_id, tenant_id: 'acme', ...data });
};
const operated = (index: number, document_id = `doc_${String(index)}`) =>
  ofOperation(index, 'OperationAccepted', { document_id, work_id: `ext_${String(index)}` });
const succeeded = (index: number) => ofOperation(index, 'OperationSucceeded', { outcome: 'success' });
const burned = (index: number) =>
  eventOf('account-acme', 'CreditsBurned', { operation_id: `ext_${String(index)}`, credits: 40 });

/** A batch of which one document was done, one refused, and one never begun. */
const HISTORY = [accepted, begun(0, 2), operated(0), refused(1), succeeded(0), burned(0), cancelled];
const END = { succeeded: 1, failed: 1, cancelled: 1 };

const foundIn = (events: readonly AuditedEvent[]): readonly string[] => {
  const findings = findingsKept(10);
  const check = batchesCheck({ findings, touch: () => undefined });
  for (const event of events) check(event);
  const { findings: found } = findings.result();
  expect(found.every(({ check: name }) => name === 'batch')).to.equal(true);
  return found.map(({ message }) => message);
};

describe('the audit of batches', () => {
  it('finds nothing in what the service writes', () => {
    expect(foundIn([...HISTORY, ended(END)])).to.deep.equal([]);
    expect(foundIn(HISTORY)).to.deep.equal([]);
  });

  const forged: readonly (readonly [string, readonly AuditedEvent[], string])[] = [
    ['documents that were begun twice', [accepted, begun(0, 2), begun(1, 1)], 'begun twice or left out'],
    ['documents that were left out', [accepted, begun(1, 1)], 'begun twice or left out'],
    ['more documents than there are', [accepted, begun(0, 4)], 'fewer documents than were begun'],
    ['documents begun after a cancellation', [accepted, cancelled, begun(0, 1)], 'after it was cancelled'],
    ['a refusal of what was not begun', [accepted, begun(0, 1), refused(1)], 'was not begun'],
    ['an operation of what was not begun', [accepted, operated(0)], 'was not begun, or another'],
    ['an operation on another document', [accepted, begun(0, 1), operated(0, 'doc_9')], 'or another'],
    ['a batch that was never accepted', [begun(0, 1)], 'was never accepted'],
    ['a batch that is accepted twice', [accepted, accepted], 'accepted twice'],
    ['what comes after the end', [...HISTORY, ended(END), cancelled], 'had ended already'],
    [
      'an end with other outcomes',
      [...HISTORY, ended({ ...END, succeeded: 2, failed: 0 })],
      'other outcomes',
    ],
    ['an end while a document is open', [accepted, begun(0, 3), ended(END, 0)], 'other outcomes'],
    ['an end at another cost', [...HISTORY, ended(END, 80)], 'cost something else'],
  ];
  for (const [name, events, message] of forged)
    it(`finds ${name}`, () => {
      const [found = '', ...more] = foundIn(events);
      expect(found).to.contain(message);
      expect(more).to.deep.equal([]);
    });
});
