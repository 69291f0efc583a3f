import { expect } from 'chai';
import { pulled } from '../../src/telemetry/processMetrics.ts';

describe('figures that a page of metrics asks for', () => {
  it('are read at most once in a while, and never twice at once', async () => {
    let now = 0;
    let reads = 0;
    const figures = pulled(() => Promise.resolve((reads += 1)), { everyMs: 15_000, nowMs: () => now });
    expect(await Promise.all([figures(), figures(), figures()])).to.deep.equal([1, 1, 1]);
    now = 14_999;
    expect(await figures()).to.equal(1);
    now = 15_000;
    expect(await figures()).to.equal(2);
    expect(reads).to.equal(2);
  });

  it('are nothing while their source fails, which is not asked more often for it', async () => {
    let now = 0;
    let reads = 0;
    const figures = pulled(
      () => {
        reads += 1;
        return reads < 3 ? Promise.reject(new Error('away')) : Promise.resolve(reads);
      },
      { everyMs: 10, nowMs: () => now },
    );
    expect(await figures()).to.equal(undefined);
    expect(await figures()).to.equal(undefined);
    expect(reads).to.equal(1);
    now = 10;
    expect(await figures()).to.equal(undefined);
    now = 20;
    expect(await figures()).to.equal(3);
  });

  it('do not keep a page waiting for a source that hangs; old figures are not shown as new', async () => {
    let now = 0;
    let answer: (value: number) => void = () => undefined;
    const figures = pulled(() => new Promise<number>((resolve) => (answer = resolve)), {
      everyMs: 10,
      patienceMs: 5,
      nowMs: () => now,
    });
    expect(await figures()).to.equal(undefined);
    answer(7);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await figures()).to.equal(7);
    now = 11;
    expect(await figures(), 'the new reading hangs').to.equal(undefined);
  });
});
