import fc from 'fast-check';
import { expect } from 'chai';
import {
  batchIdOfRun,
  evaluationSet,
  type EvaluationSetKind,
  runIdOfBatch,
  setIdFor,
  setVersion,
} from '../../domain/evaluation.ts';
import { holds } from '../../engine/test/support/properties.ts';
import { meta, NOW } from '../support/money/moneyCommands.ts';
import { specFor } from '../support/specFor.ts';

type SetCommand = EvaluationSetKind['command'];

const { given } = specFor(evaluationSet);

const publish = (
  documents: readonly string[],
  { update = false, fingerprint = 'f', tenant_id = 'acme', digest = 'a' } = {},
): SetCommand => ({
  type: 'PublishSet',
  meta,
  data: {
    set_id: 'set_1',
    tenant_id,
    project_id: 'default',
    task_id: 'default',
    set_name: null,
    examples: documents.map((document_id) => ({ document_id, expected_sha256: digest })),
    fingerprint,
    update,
  },
});
const change = (documents: readonly string[], more: object = {}) =>
  publish(documents, { update: true, ...more });
const takeOut = (...document_ids: readonly string[]): SetCommand => ({
  type: 'TakeOut',
  meta,
  data: { document_ids },
});
const remove: SetCommand = { type: 'RemoveSet', meta };

describe('a set of examples', () => {
  it('is published once; a repeat changes nothing, and another request under its key is refused', () => {
    given()
      .when(publish(['doc_1']))
      .then(['EvaluationSetPublished', { version: 1, created_at: NOW, published_at: NOW }]);
    given(publish(['doc_1']))
      .when(publish(['doc_1']))
      .thenNothing();
    given(publish(['doc_1']))
      .when(publish(['doc_2'], { fingerprint: 'g' }))
      .thenRejected({ code: 'idempotency_key_reused' });
  });

  it('has a new version with each change, and none without', () => {
    given(publish(['doc_1']))
      .when(change(['doc_1', 'doc_2']))
      .then(['EvaluationSetPublished', { version: 2, created_at: NOW }]);
    given(publish(['doc_1']))
      .when(change(['doc_1'], { digest: 'b' }))
      .then(['EvaluationSetPublished', { version: 2 }]);
    given(publish(['doc_1']))
      .when(change(['doc_1']))
      .thenNothing();
    given(publish(['doc_1']))
      .when(change(['doc_1'], { fingerprint: 'other' }))
      .thenNothing();
  });

  it('that is not there, or is another tenant’s, has no new version', () => {
    given()
      .when(change(['doc_1']))
      .thenRejected({ code: 'set_not_found' });
    given(publish(['doc_1']))
      .when(change(['doc_2'], { tenant_id: 'other' }))
      .thenRejected({ code: 'set_not_found' });
  });

  it('loses documents that are gone, once, and may become empty', () => {
    given(publish(['doc_1', 'doc_2']))
      .when(takeOut('doc_1'))
      .then(['EvaluationSetReduced', { version: 2, document_ids: ['doc_1'], published_at: NOW }]);
    given(publish(['doc_1']), takeOut('doc_1'))
      .when(takeOut('doc_1'))
      .thenNothing();
    given(publish(['doc_1']))
      .when(takeOut('doc_1'))
      .then(['EvaluationSetReduced', { version: 2, document_ids: ['doc_1'] }]);
    given(publish(['doc_1']))
      .when(takeOut('doc_9'))
      .thenNothing();
    given().when(takeOut('doc_9')).thenNothing();
  });

  it('has each version as it was, also one that lost documents', () => {
    const commands = [publish(['doc_1', 'doc_2', 'doc_3']), takeOut('doc_2'), takeOut('doc_1', 'doc_9')];
    let state = evaluationSet.initialState;
    for (const command of [...commands, change(['doc_4']), takeOut('doc_4')]) {
      const decided = evaluationSet.decide(state, command);
      if (decided.kind === 'accepted') state = decided.events.reduce(evaluationSet.evolve, state);
    }
    const documentsOf = (version?: number) =>
      setVersion(state, version)?.examples.map(({ document_id }) => document_id);
    expect([1, 2, 3, 4, 5, 6].map(documentsOf)).to.deep.equal([
      ['doc_1', 'doc_2', 'doc_3'],
      ['doc_1', 'doc_3'],
      ['doc_3'],
      ['doc_4'],
      [],
      undefined,
    ]);
    expect(documentsOf()).to.deep.equal([]);
    expect(setVersion(state, 3)).to.include({ version: 3, created_at: NOW, fingerprint: '' });
  });

  it('writes what was taken out, not what is left', () => {
    const [documents, written] = [
      Array.from({ length: 1_000 }, (_, at) => `doc_${String(at)}`),
      [] as number[],
    ];
    let state = evaluationSet.initialState;
    for (const command of [publish(documents), ...documents.slice(0, 200).map((id) => takeOut(id))]) {
      const decided = evaluationSet.decide(state, command);
      if (decided.kind !== 'accepted') continue;
      written.push(JSON.stringify(decided.events).length);
      state = decided.events.reduce(evaluationSet.evolve, state);
    }
    expect(Math.max(...written.slice(1))).to.be.lessThan(300);
    expect(setVersion(state)?.examples).to.have.length(800);
  });

  it('that is removed stays removed', () => {
    given(publish(['doc_1']))
      .when(remove)
      .then(['EvaluationSetRemoved', { removed_at: NOW }]);
    const removed = given(publish(['doc_1']), remove);
    removed.when(remove).thenNothing();
    removed.when(takeOut('doc_1')).thenNothing();
    removed.when(change(['doc_2'])).thenRejected({ code: 'set_not_found' });
    removed.when(publish(['doc_1'])).thenRejected({ code: 'idempotency_key_reused' });
    given().when(remove).thenRejected({ code: 'set_not_found' });
  });

  const documents = fc.subarray(['doc_1', 'doc_2', 'doc_3']);
  const command = fc.oneof(
    documents.map((some) => publish(some)),
    documents.map((some) => change(some)),
    documents.map((some) => takeOut(...some)),
  );
  holds(
    'numbers its versions without a gap, and no version is as the one before',
    fc.property(fc.array(command, { maxLength: 12 }), (commands) => {
      let state = evaluationSet.initialState;
      for (const one of commands) {
        const decided = evaluationSet.decide(state, one);
        if (decided.kind === 'accepted')
          for (const event of decided.events) state = evaluationSet.evolve(state, event);
      }
      expect(state.versions.map(({ version }) => version)).to.deep.equal(
        state.versions.map((_, at) => at + 1),
      );
      const whole = state.versions.map((_, at) => setVersion(state, at + 1));
      expect(whole.map((one) => one?.version)).to.deep.equal(state.versions.map((_, at) => at + 1));
      const texts = whole.map((one) => JSON.stringify(one?.examples));
      for (const [at, text] of texts.entries()) if (at > 0) expect(text).not.to.equal(texts[at - 1]);
    }),
  );

  it('has an ID by its request, and a run the ID of its batch', () => {
    const identity = { tenant_id: 'acme', idempotency_key: 'k', generation: 0 };
    expect(setIdFor(identity)).to.equal(setIdFor(identity)).and.match(/^set_/);
    expect(setIdFor({ ...identity, tenant_id: 'other' })).not.to.equal(setIdFor(identity));
    expect(batchIdOfRun(runIdOfBatch('bat_01X'))).to.equal('bat_01X');
  });
});
