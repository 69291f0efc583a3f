import { expect } from 'chai';
import fc from 'fast-check';
import { holds } from '../support/properties.ts';
import { machine } from './machineWithSeats.ts';

const NAMES = ['acme', 'bolt', 'crux', 'dune', 'echo'];

describe('fair shares', () => {
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
