import { expect } from 'chai';
import fc from 'fast-check';
import { dayRange } from '../../projections/engine/table.ts';

const at = fc
  .integer({ min: -5, max: 5 * 24 * 3600 })
  .map((seconds) => new Date(Date.parse('2024-02-27T00:00:00.000Z') + seconds * 1000).toISOString());
const edge = fc.oneof(
  at,
  at.map((time) => `${time.slice(0, 10)}T00:00:00.000Z`),
  at.map((time) => `${time.slice(0, 10)}T23:59:59.999Z`),
  fc.constant(undefined),
);

describe('a range of time as days and pieces', () => {
  it('has every instant of the range once, and no other', () => {
    fc.assert(
      fc.property(edge, edge, at, (from, to, time) => {
        const { firstDay, lastDay, pieces } = dayRange({ from, to });
        const day = time.slice(0, 10);
        const inDays = firstDay <= day && day <= lastDay ? 1 : 0;
        const inPieces = pieces.filter((piece) => piece.from <= time && time <= piece.to).length;
        const isWanted = (from === undefined || from <= time) && (to === undefined || time <= to);
        expect(inDays + inPieces, `${from ?? ''} to ${to ?? ''} at ${time}`).to.equal(isWanted ? 1 : 0);
      }),
      { numRuns: 2_000 },
    );
  });
});
