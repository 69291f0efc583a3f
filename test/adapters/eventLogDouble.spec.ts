import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { outcomeOf } from '../../adapters/eventstoredb/eventStoreDb.ts';
import { doubleLog } from '../support/esdbDouble/doubleLog.ts';

const event = (id: string = randomUUID()) => ({
  id,
  type: 'SomethingHappened',
  contentType: 'application/json',
  data: Buffer.from('{}'),
  metadata: Buffer.from('{}'),
});

describe('EventStoreDB double, its idempotency table', () => {
  it('knows a repetition with "any" only while the ID is in its bounded cache', () => {
    const log = doubleLog({ recentIdsMax: 2 });
    const first = event();
    log.append('a', 'any', [first]);
    expect(log.append('a', 'any', [first])).to.include({ kind: 'ok', revision: 0 });
    log.append('a', 'any', [event(), event()]);
    expect(log.append('a', 'any', [first])).to.include({ kind: 'ok', revision: 3 });
  });

  it('forgets an ID under "any" when another stream takes it', () => {
    const log = doubleLog();
    const shared = event();
    log.append('a', 'any', [shared]);
    log.append('b', 'any', [shared]);
    expect(log.append('a', 'any', [shared])).to.include({ kind: 'ok', revision: 1 });
  });

  it('refuses with "any" a batch that is known in part', () => {
    const log = doubleLog();
    const known = event();
    log.append('a', 'any', [known]);
    expect(log.append('a', 'any', [known, event()]).kind).to.equal('wrong_expected_version');
    expect(log.append('none', 'stream_exists', [event()]).kind).to.equal('wrong_expected_version');
  });
});

describe('outcome of a failed append', () => {
  const failure = (members: object) => Object.assign(new Error(''), members);

  it('is unknown for whatever is not surely a refusal', () => {
    const types = [
      'timeout',
      'deadline-exceeded',
      'cancelled',
      'unavailable',
      'unknown',
      'not-leader',
      'new',
    ];
    for (const type of types) expect(outcomeOf(failure({ type })).kind, type).to.equal('unknown');
    for (const code of [1, 2, 4, 8, 10, 13, 14])
      expect(outcomeOf(failure({ code })).kind).to.equal('unknown');
    expect(outcomeOf('text')).to.deep.equal({ kind: 'unknown', reason: 'text' });
  });

  it('is a refusal or a conflict only when the server says so', () => {
    for (const type of ['access-denied', 'invalid-argument', 'stream-deleted'])
      expect(outcomeOf(failure({ type })).kind, type).to.equal('rejected');
    for (const code of [3, 7, 16]) expect(outcomeOf(failure({ code })).kind).to.equal('rejected');
    const wrong = { type: 'wrong-expected-version' };
    expect(outcomeOf(failure({ ...wrong, actualVersion: 4n }))).to.deep.equal({
      kind: 'conflict',
      actual: 4n,
    });
    expect(outcomeOf(failure({ ...wrong, actualVersion: 'no_stream' }))).to.include({ actual: 'no_stream' });
  });
});
