import { expect } from 'chai';
import fc from 'fast-check';
import { fairShares, type FairShares } from '../../kernel/fairShares.ts';
import { holds } from '../support/properties.ts';

interface Piece {
  readonly share: string;
  readonly costMs: number;
}

interface Ran extends Piece {
  readonly startMs: number;
}

/** Seats of a machine with a core each: pieces run to their end, and are charged what they cost. */
const machine = (seats: number) => {
  const line: FairShares<Piece> = fairShares();
  const running: (Ran & { readonly endMs: number })[] = [];
  const ran: Ran[] = [];
  let nowMs = 0;
  const fill = () => {
    while (running.length < seats) {
      const piece = line.next();
      if (piece === undefined) return;
      ran.push({ ...piece, startMs: nowMs });
      running.push({ ...piece, startMs: nowMs, endMs: nowMs + piece.costMs });
    }
  };
  return {
    ran,
    running,
    now: () => nowMs,
    waiting: line.waiting,
    add: (share: string, costMs: number) => {
      line.add(share, { share, costMs }, nowMs);
      fill();
    },
    /** To the end of the piece that ends next; false where none runs. */
    step: (): boolean => {
      running.sort((a, b) => a.endMs - b.endMs);
      const done = running.shift();
      if (done === undefined) return false;
      nowMs = done.endMs;
      line.charge(done.share, done.costMs, nowMs);
      line.end(done.share, nowMs);
      fill();
      return true;
    },
  };
};

const NAMES = ['acme', 'bolt', 'crux', 'dune', 'echo'];

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

  const arrival = fc.record({
    share: fc.constantFrom(...NAMES),
    costMs: fc.integer({ min: 1, max: 5_000 }),
    steps: fc.nat(3),
  });

  holds(
    'are work-conserving and serve every piece once',
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(arrival, { maxLength: 80 }), (seats, arrivals) => {
      const { add, step, ran, running, waiting } = machine(seats);
      const idle = () => running.length < seats && waiting() > 0;
      for (const { share, costMs, steps } of arrivals) {
        add(share, costMs);
        for (let n = 0; n < steps; n += 1) step();
        expect(idle()).to.equal(false);
      }
      while (step()) expect(idle()).to.equal(false);
      for (const name of NAMES)
        expect(ran.filter(({ share }) => share === name).map(({ costMs }) => costMs)).to.deep.equal(
          arrivals.filter(({ share }) => share === name).map(({ costMs }) => costMs),
        );
    }),
    0.1,
  );

  holds(
    'never let a hostile queue delay another by more than one piece',
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.integer({ min: 1, max: 5_000 }),
      fc.array(fc.nat(4), { minLength: 1, maxLength: 20 }),
      (hostileMs, ownMs, pauses) => {
        const { add, step, ran, running, waiting } = machine(1);
        for (let n = 0; n < 150; n += 1) add('hostile', hostileMs);
        for (const steps of pauses) {
          for (let n = 0; n < steps; n += 1) step();
          const before = ran.length;
          add('bolt', ownMs);
          // What runs may end; after it nothing of the hostile queue goes first.
          step();
          expect(ran.slice(before).map(({ share }) => share)).to.deep.equal(['bolt']);
          while (running.some(({ share }) => share === 'bolt')) step();
          if (waiting() < 10) for (let n = 0; n < 50; n += 1) add('hostile', hostileMs);
          // The debt of the piece itself is paid off before the next comes.
          for (let n = 0; n < Math.ceil((5 * ownMs) / hostileMs) + 1 && waiting() > 0; n += 1) step();
        }
      },
    ),
    0.1,
  );

  holds(
    'starve nobody: a piece waits for no more CPU time of others than shares and prices explain',
    fc.property(
      fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 2, maxLength: 5 }),
      fc.integer({ min: 1, max: 3 }),
      (costs, seats) => {
        const { add, step, ran } = machine(seats);
        for (let n = 0; n < 60; n += 1) costs.forEach((costMs, i) => add(NAMES[i]!, costMs));
        for (let n = 0; n < 120; n += 1) step();
        const longest = Math.max(...costs);
        costs.forEach((_, i) => {
          const starts = ran.filter(({ share }) => share === NAMES[i]).map(({ startMs }) => startMs);
          const gaps = starts.slice(1).map((at, n) => at - starts[n]!);
          // At the dearest, a share pays four times; the others have their pieces, and one more each.
          expect(Math.max(0, ...gaps)).to.be.at.most(4 * 2 * longest * costs.length);
        });
      },
    ),
    0.1,
  );

  holds(
    'come to the same CPU time for shares that always wait, whatever their pieces cost',
    fc.property(
      fc.array(fc.integer({ min: 10, max: 1_000 }), { minLength: 2, maxLength: 5 }),
      fc.integer({ min: 0, max: 60_000 }),
      (costs, headStartMs) => {
        const { add, step, ran, now } = machine(1);
        add(NAMES[0]!, 1 + headStartMs);
        step();
        const used = (name: string, fromMs: number) =>
          ran
            .filter(({ share, startMs }) => share === name && startMs >= fromMs)
            .reduce((sum, { costMs }) => sum + costMs, 0);
        const queue = new Map(costs.map((costMs, i) => [NAMES[i]!, costMs]));
        const refill = () => {
          for (const [name, costMs] of queue) add(name, costMs);
        };
        for (let n = 0; n < 3; n += 1) refill();
        const began = now();
        // What was used before is forgotten after a minute; then a minute is measured.
        let seen = ran.length;
        const run = (untilMs: number) => {
          while (now() < untilMs) {
            step();
            for (const { share, costMs } of ran.slice(seen)) add(share, costMs);
            seen = ran.length;
          }
        };
        run(began + 90_000);
        const fromMs = now();
        run(fromMs + 60_000);
        const shares = costs.map((_, i) => used(NAMES[i]!, fromMs));
        const longest = Math.max(...costs);
        expect(Math.max(...shares) - Math.min(...shares)).to.be.at.most(
          6 * longest + 0.1 * (60_000 / costs.length),
        );
      },
    ),
    0.025,
  );
});
