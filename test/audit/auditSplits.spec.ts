import { expect } from 'chai';
import { findingsKept } from '../../src/audit/findings.ts';
import type { AuditedEvent } from '../../src/audit/auditedEvent.ts';
import { splitsCheck } from '../../src/audit/splits.ts';

const OPERATION = { operation_id: 'op_1', tenant_id: 'acme' };
const BATCH = { batch_id: 'bat_1', tenant_id: 'acme' };
const AT = '2026-01-31T08:00:00.000Z';
const LATER = '2026-01-31T10:00:00.000Z';

const eventOf = (type: string, data: object): AuditedEvent =>
  ({
    stream: 'some',
    type,
    data,
    revision: 0n,
    position: 1n,
    metadata: {},
    id: '',
  }) as unknown as AuditedEvent;

const asked = (kind = 'split') =>
  eventOf('OperationAccepted', { ...OPERATION, kind, document_id: 'doc_1', work_id: 'spl_1' });
const succeeded = (more: object = { then_batch_id: 'bat_1' }) =>
  eventOf('OperationSucceeded', { ...OPERATION, ...more, succeeded_at: AT });
const decided = eventOf('ReviewDecided', { ...OPERATION, then_batch_id: 'bat_1', decided_at: AT });
const split = { operation_id: 'op_1', file_sha256: 'a', pages: ['1-2', '3'] };
const parts = (more: object = {}) =>
  eventOf('BatchAccepted', { ...BATCH, document_ids: ['doc_1', 'doc_1'], split, ...more });
const closed = eventOf('BatchCancelled', BATCH);
const erased = eventOf('DocumentErased', { document_id: 'doc_1', tenant_id: 'acme' });

const foundIn = (events: readonly AuditedEvent[], newest = LATER): readonly string[] => {
  const findings = findingsKept(10);
  const check = splitsCheck({ findings, touch: () => undefined });
  for (const event of events) check.apply(event);
  check.finish(newest);
  const { findings: found } = findings.result();
  expect(found.every(({ check: name }) => name === 'batch')).to.equal(true);
  return found.map(({ message }) => message);
};

describe('the audit of splits', () => {
  const right: readonly (readonly [string, readonly AuditedEvent[]])[] = [
    ['a split whose parts are a batch', [asked(), succeeded(), parts()]],
    ['one that a person has decided', [asked(), succeeded({}), decided, parts()]],
    ['one without a batch', [asked(), succeeded({})]],
    ['one whose batch was closed', [asked(), succeeded(), closed]],
    ['one whose document was erased', [asked(), succeeded(), erased]],
    ['one whose document was erased while somebody decided', [asked(), succeeded({}), erased, decided]],
    ['a batch of uploads', [parts({ split: undefined })]],
  ];
  for (const [name, events] of right)
    it(`finds nothing in ${name}`, () => {
      expect(foundIn(events)).to.deep.equal([]);
    });

  it('gives the service time to make the batch', () => {
    expect(foundIn([asked(), succeeded()], AT)).to.deep.equal([]);
  });

  const forged: readonly (readonly [string, readonly AuditedEvent[], string])[] = [
    ['parts that are no batch', [asked(), succeeded()], 'are to be bat_1 and are not'],
    ['decided parts that are no batch', [asked(), succeeded({}), decided], 'are to be bat_1 and are not'],
    ['a batch that no split has made', [asked(), succeeded({}), parts()], 'of no split of this tenant'],
    ['a batch before its split has ended', [asked(), parts()], 'of no split of this tenant'],
    ['a second batch', [asked(), succeeded(), parts(), parts()], 'of no split of this tenant'],
    [
      'a batch of another tenant',
      [asked(), succeeded(), parts({ tenant_id: 'b' })],
      'of no split of this tenant',
    ],
    [
      'another document',
      [asked(), succeeded(), parts({ document_ids: ['doc_1', 'doc_2'] })],
      'not in the stack',
    ],
    [
      'more documents than parts',
      [asked(), succeeded(), parts({ document_ids: ['doc_1'] })],
      'other parts than documents',
    ],
  ];
  for (const [name, events, message] of forged)
    it(`finds ${name}`, () => {
      const [found = '', ...more] = foundIn(events);
      expect(found).to.contain(message);
      expect(more).to.deep.equal([]);
    });

  it('finds a batch that is to come of work that is no split', () => {
    expect(foundIn([asked('extract'), succeeded(), closed])[0]).to.contain('which is no split');
  });
});
