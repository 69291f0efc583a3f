import { expect } from 'chai';
import { findingsKept } from '../../src/audit/findings.ts';
import type { AuditedEvent } from '../../src/audit/auditedEvent.ts';
import { evaluationsCheck } from '../../src/audit/evaluations.ts';

const eventOf = (stream: string, type: string, data: object): AuditedEvent =>
  ({ stream, type, data, revision: 0n, position: 1n, metadata: {}, id: '' }) as unknown as AuditedEvent;

const SET = { set_id: 'set_1', tenant_id: 'acme' };
const published = (version: number, documents: readonly string[], more: object = {}) =>
  eventOf('set-set_1', 'EvaluationSetPublished', {
    ...SET,
    version,
    ...more,
    examples: documents.map((document_id) => ({ document_id, expected_sha256: 'a' })),
  });
const removed = eventOf('set-set_1', 'EvaluationSetRemoved', SET);
const accepted = (set_version: number, document_ids: readonly string[], tenant_id = 'acme') =>
  eventOf('batch-bat_1', 'BatchAccepted', {
    batch_id: 'bat_1',
    tenant_id,
    document_ids,
    evaluated: { set_id: 'set_1', set_version },
  });
const plain = eventOf('batch-bat_2', 'BatchAccepted', { batch_id: 'bat_2', document_ids: ['doc_9'] });
const ended = eventOf('batch-bat_1', 'BatchEnded', { batch_id: 'bat_1' });
const scored = (done: number, left_out = 0, set_version = 1) =>
  eventOf('evaluation-evr_1', 'EvaluationScored', {
    run_id: 'evr_1',
    batch_id: 'bat_1',
    tenant_id: 'acme',
    scored: done,
    left_out,
    set_id: 'set_1',
    set_version,
  });
const reduced = (version: number, ...document_ids: readonly string[]) =>
  eventOf('set-set_1', 'EvaluationSetReduced', { ...SET, version, document_ids });

const foundIn = (events: readonly AuditedEvent[]): readonly string[] => {
  const findings = findingsKept(10);
  const check = evaluationsCheck({ findings, touch: () => undefined });
  for (const event of events) check(event);
  return findings.result().findings.map(({ check: name, message }) => `${name}: ${message}`);
};

const TWO = ['doc_0', 'doc_1'];

describe('the audit of sets of examples and their runs', () => {
  it('finds nothing in what the service writes', () => {
    const run = [published(1, TWO), accepted(1, TWO), plain, published(2, ['doc_0']), ended, scored(1, 1)];
    expect(foundIn(run)).to.deep.equal([]);
    expect(foundIn([...run, removed])).to.deep.equal([]);
    expect(foundIn([published(1, TWO), removed, accepted(1, TWO)])).to.deep.equal([]);
    const less = [published(1, TWO), reduced(2, 'doc_0'), reduced(3, 'doc_1'), published(4, TWO), removed];
    expect(foundIn(less)).to.deep.equal([]);
    for (const [version, documents] of [TWO, ['doc_1'], []].entries())
      expect(foundIn([...less, accepted(version + 1, documents)])).to.deep.equal([]);
  });

  const forged: readonly (readonly [string, readonly AuditedEvent[], string])[] = [
    ['a version that was left out', [published(2, TWO)], 'version: Version 2 was published where 1 belongs'],
    [
      'a version after the removal',
      [published(1, TWO), removed, published(2, [])],
      'after the set was removed',
    ],
    [
      'a set that goes to another tenant',
      [published(1, TWO), published(2, [], { tenant_id: 'b' })],
      'another tenant',
    ],
    ['a removal of nothing', [removed], 'never published'],
    ['a run of no set', [accepted(1, TWO)], 'evaluation: It measures version 1 of set_1, which the tenant'],
    ['a run of a version that is not there', [published(1, TWO), accepted(2, TWO)], 'does not have'],
    ['a run of another tenant’s set', [published(1, TWO), accepted(1, TWO, 'b')], 'does not have'],
    ['a run of a part of a set', [published(1, TWO), accepted(1, ['doc_0'])], 'not those of version 1'],
    [
      'a run of documents that were taken out',
      [published(1, TWO), reduced(2, 'doc_0'), accepted(2, TWO)],
      'not those of version 2',
    ],
    [
      'a document that is taken out and was not there',
      [published(1, TWO), reduced(2, 'doc_9')],
      'takes documents out that the set does not have',
    ],
    [
      'a score of another version',
      [published(1, TWO), published(2, TWO), accepted(1, TWO), ended, scored(2, 0, 2)],
      'scored for another set',
    ],
    [
      'a score before the end',
      [published(1, TWO), accepted(1, TWO), scored(2)],
      'scored before it had ended',
    ],
    ['two scores', [published(1, TWO), accepted(1, TWO), ended, scored(2), scored(2)], 'scored twice'],
    [
      'a score of fewer documents',
      [published(1, TWO), accepted(1, TWO), ended, scored(1)],
      'other documents',
    ],
    ['a score of nothing', [scored(1)], 'evr_1 was never accepted'],
  ];
  for (const [what, events, message] of forged)
    it(`finds ${what}`, () => {
      const found = foundIn(events);
      expect(found).to.have.length(1);
      expect(found[0]).to.include(message);
    });
});
