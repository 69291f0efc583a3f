import canonicalize from 'canonicalize';
import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalJson, type Json } from '../../../domain/kernel/json.ts';

const SEED = 8785;

describe('canonical JSON', () => {
  it(`is what the reference implementation writes, seed ${SEED}`, () => {
    const keys = fc.oneof(fc.constantFrom('a', 'b', 'toString', 'constructor', 'ä', '€', '"'), fc.string());
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string({ unit: 'grapheme' }),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(keys, tie('value'), { maxKeys: 5 }),
      ),
    })).value;
    fc.assert(
      fc.property(json, (value) => canonicalJson(value as Json) === canonicalize(value)),
      { seed: SEED, numRuns: 3000 },
    );
  });

  it('does not take one object for another of as many members', () => {
    expect(canonicalJson({ toString: 1, a: 2 })).to.equal('{"a":2,"toString":1}');
    expect(canonicalJson({ b: 1, a: 2 })).to.equal('{"a":2,"b":1}');
    expect(canonicalJson({ a: 1, c: 2 })).to.equal('{"a":1,"c":2}');
  });

  it('refuses what is not JSON', () => {
    for (const value of [NaN, undefined, Infinity])
      expect(() => canonicalJson(value as unknown as Json)).to.throw();
  });
});
