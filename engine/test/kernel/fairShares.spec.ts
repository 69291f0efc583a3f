import { expect } from 'chai';
import { fairShares } from '../../kernel/fairShares.ts';
import { machine } from './machineWithSeats.ts';

describe('fair shares', () => {
  it('serve one share in the order in which its pieces came', () => {
    const line = fairShares<number>();
    for (const piece of [1, 2, 3]) line.add('acme', piece, 0);
    expect([line.next(), line.next(), line.next(), line.next()]).to.deep.equal([1, 2, 3, undefined]);
  });

  it('serve what goes on with an open file before the rest of its share, and before no other share', () => {
    const line = fairShares<string>();
    for (const piece of ['a1', 'a2']) line.add('acme', piece, 0);
    line.add('bolt', 'b1', 0);
    line.addFirst('acme', 'a0', 0);
    expect([line.next(), line.next(), line.next(), line.next()]).to.deep.equal(['a0', 'b1', 'a1', 'a2']);
    expect(line.waiting()).to.equal(0);
  });

  it('let a share that comes from idleness go before the next piece of a queue', () => {
    const { add, step, ran } = machine(1);
    for (let n = 0; n < 100; n += 1) add('hostile', 50);
    for (let n = 0; n < 10; n += 1) step();
    add('bolt', 50);
    step();
    expect(ran.at(-1)).to.have.property('share', 'bolt');
  });

  it('save nothing up for a share that was idle', () => {
    const { add, step, ran } = machine(1);
    for (let n = 0; n < 50; n += 1) add('acme', 1_000);
    for (let n = 0; n < 40; n += 1) step();
    for (let n = 0; n < 50; n += 1) add('late', 1_000);
    const before = ran.length;
    for (let n = 0; n < 8; n += 1) step();
    const shares = ran.slice(before).map(({ share }) => share);
    expect(shares).to.include('acme');
  });

  it('make CPU time dearer the more of it was used in the last minute, and forget it after', () => {
    const line = fairShares<string>();
    const use = (share: string, cpuMs: number, nowMs: number) => {
      line.add(share, share, nowMs);
      line.next();
      line.charge(share, cpuMs, nowMs);
      line.end(share, nowMs);
    };
    const winnerAfterSameWork = (nowMs: number) => {
      line.add('heavy', 'heavy', nowMs);
      line.add('light', 'light', nowMs);
      line.next();
      line.next();
      for (const share of ['heavy', 'light']) {
        line.charge(share, 1_000, nowMs);
        line.add(share, share, nowMs);
      }
      const winner = line.next();
      const loser = line.next();
      for (const share of ['heavy', 'light', 'heavy', 'light']) line.end(share, nowMs);
      return [winner, loser];
    };
    use('heavy', 40_000, 0);
    expect(winnerAfterSameWork(1_000)).to.deep.equal(['light', 'heavy']);
    expect(winnerAfterSameWork(200_000)).to.deep.equal(['heavy', 'light']);
  });

  it('say that a share should yield to one that has paid less', () => {
    const line = fairShares<string>();
    line.add('long', 'long', 0);
    line.next();
    line.charge('long', 500, 500);
    expect(line.shouldYield('long')).to.equal(false);
    line.add('bolt', 'bolt', 500);
    line.charge('long', 1, 501);
    expect(line.shouldYield('long')).to.equal(true);
    line.putBack('long', 'long');
    expect([line.next(), line.next()]).to.deep.equal(['bolt', 'long']);
  });

  it('forget a piece that leaves its line', () => {
    const line = fairShares<string>();
    line.add('acme', 'a', 0);
    line.add('acme', 'b', 0);
    line.remove('acme', 'a');
    line.remove('acme', 'gone');
    expect(line.waiting()).to.equal(1);
    expect([line.next(), line.next()]).to.deep.equal(['b', undefined]);
  });
});
