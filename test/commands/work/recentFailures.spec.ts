import { expect } from 'chai';
import { recentFailures } from '../../../src/commands/countPages.ts';

describe('recent failures', () => {
  it('are kept for a minute, or until what they are about has changed', () => {
    const time = { nowMs: 0 };
    const failures = recentFailures<string>(() => time.nowMs);
    failures.note('a', 'damaged');
    failures.note('b', 'damaged');
    failures.forget('b');
    time.nowMs = 59_999;
    expect([failures.find('a'), failures.find('b')]).to.deep.equal(['damaged', undefined]);
    time.nowMs = 60_000;
    expect(failures.find('a')).to.equal(undefined);
  });

  it('are ten thousand at most: the oldest go first', () => {
    const failures = recentFailures<number>(() => 0);
    for (let n = 0; n < 10_001; n += 1) failures.note(String(n), n);
    expect([failures.find('0'), failures.find('1'), failures.find('10000')]).to.deep.equal([
      undefined,
      1,
      10_000,
    ]);
  });
});
