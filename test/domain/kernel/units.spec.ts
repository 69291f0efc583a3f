import { expect } from 'chai';
import { credits, creditsFromZero, minorFromZero, pages } from '../../../domain/kernel/amounts.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const NO_WHOLE_NUMBERS = [MAX + 1, -MAX - 1, 1.5, NaN, Infinity, '1', null, undefined, 1n];

describe('units of events', () => {
  it('have a number of credits as it is, debts and the last exact number too', () => {
    for (const n of [0, 1, -1, MAX, -MAX]) expect(credits.parse(n)).to.equal(n);
  });

  for (const [name, unit] of Object.entries({ credits, creditsFromZero, minorFromZero, pages }))
    it(`refuse what is no exact whole number: ${name}`, () => {
      for (const value of NO_WHOLE_NUMBERS)
        expect(unit.safeParse(value).success, String(value)).to.equal(false);
    });

  for (const [name, unit] of Object.entries({ creditsFromZero, minorFromZero, pages }))
    it(`refuse less than nothing where there is none: ${name}`, () => {
      expect(unit.safeParse(-1).success).to.equal(false);
      expect([unit.parse(0), unit.parse(MAX)]).to.deep.equal([0, MAX]);
    });
});
