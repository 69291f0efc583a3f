import fc from 'fast-check';
import { expect } from 'chai';
import { validate } from '../../extraction/schema/validation.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { withAbsence } from '../../extraction/grounding/absence.ts';
import { holds } from '../support/properties.ts';

const object = (properties: object, more: object = {}): JsonObject =>
  ({ type: 'object', properties, ...more }) as JsonObject;

/** Each way in which a schema may say that null may stand. */
const NULLABLE: Readonly<Record<string, object>> = {
  'a list of types': { type: ['string', 'null'] },
  anyOf: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  oneOf: { oneOf: [{ type: 'number' }, { type: 'null' }] },
  'an enumeration': { enum: ['a', null] },
  'a constant': { const: null },
  'a reference': { $ref: '#/$defs/maybe' },
  'a reference in anyOf': { anyOf: [{ $ref: '#/$defs/text' }, { type: 'null' }] },
  allOf: { allOf: [{ $ref: '#/$defs/maybe' }] },
  'an object or null': { anyOf: [object({ a: { type: 'string' } }), { type: 'null' }] },
  'a list or null': { type: ['array', 'null'], items: { type: 'string' } },
};
const STRICT: Readonly<Record<string, object>> = {
  'one type': { type: 'string' },
  'a list of other types': { type: ['string', 'number'] },
  'an enumeration without it': { enum: ['a', 'b'] },
  'a type beside an enumeration with it': { type: 'string', enum: ['a', null] },
  'a reference to text': { $ref: '#/$defs/text' },
};
const DEFS = { $defs: { maybe: { type: ['string', 'null'] }, text: { type: 'string' } } };

describe('what a document does not say', () => {
  for (const [name, member] of Object.entries(NULLABLE))
    for (const required of [true, false])
      it(`is null by ${name}, ${required ? 'required' : 'optional'}; found or told alike`, () => {
        const schema = object(
          { a: member, b: { type: 'string' } },
          { ...DEFS, required: required ? ['a'] : [] },
        );
        for (const value of [{ b: 'x' }, { a: null, b: 'x' }]) {
          const left = withAbsence(schema, value);
          expect(left).to.deep.equal({ a: null, b: 'x' });
          expect(validate(schema, left).errors).to.deep.equal([]);
        }
      });

  for (const [name, member] of Object.entries(STRICT)) {
    it(`is left out by ${name}, optional`, () => {
      const schema = object({ a: member }, DEFS);
      for (const value of [{}, { a: null }]) expect(withAbsence(schema, value)).to.deep.equal({});
    });
    it(`is an error by ${name}, required`, () => {
      const schema = object({ a: member }, { ...DEFS, required: ['a'] });
      for (const value of [{}, { a: null }])
        expect(
          validate(schema, withAbsence(schema, value)).errors.map(({ keyword }) => keyword),
        ).to.deep.equal(['required']);
    });
  }

  it('is left out where nothing speaks of null, and null where that is required', () => {
    expect(withAbsence(object({ a: {} }), { a: null })).to.deep.equal({});
    expect(withAbsence(object({ a: {} }, { required: ['a'] }), {})).to.deep.equal({ a: null });
  });

  it('makes a required object of nulls, and leaves an optional one out', () => {
    const party = object({ name: { type: ['string', 'null'] } }, { required: ['name'] });
    const schema = object({ seller: party, buyer: party }, { required: ['seller'] });
    for (const value of [{}, { buyer: { name: null } }, { seller: { name: null }, buyer: {} }]) {
      const left = withAbsence(schema, value);
      expect(left['seller']).to.deep.equal({ name: null });
    }
    expect(withAbsence(schema, { buyer: { name: null } })).to.not.have.property('buyer');
  });

  it('is filled into the rows of a list, which keep their places', () => {
    const row = object({ a: { type: ['string', 'null'] }, n: { type: 'number' } });
    const schema = object({ rows: { type: 'array', items: row } });
    expect(withAbsence(schema, { rows: [{ n: 1 }, {}, { a: 'x', n: null }] })).to.deep.equal({
      rows: [{ n: 1, a: null }, { a: null }, { a: 'x' }],
    });
  });

  it('is not guessed where a value may take several ways', () => {
    const ways = {
      anyOf: [object({ a: { type: ['string', 'null'] } }), object({ b: { type: ['string', 'null'] } })],
    };
    expect(withAbsence(object({ way: ways }), { way: { b: 'x' } })).to.deep.equal({ way: { b: 'x' } });
  });
});

describe('members outside a closed schema', () => {
  const closed = object(
    {
      a: { type: 'string' },
      rows: { type: 'array', items: object({ b: {} }, { additionalProperties: false }) },
    },
    { additionalProperties: false, patternProperties: { '^x-': { type: 'string' } } },
  );

  it('never reach the result, and are no error', () => {
    const value = { a: 'x', 'x-1': 'y', z: 1, rows: [{ b: 1, c: 2 }] };
    const left = withAbsence(closed, value);
    expect(left).to.deep.equal({ a: 'x', 'x-1': 'y', rows: [{ b: 1 }] });
    expect(validate(closed, left).errors).to.deep.equal([]);
  });

  it('never reach it however many they are, also where the way is not known', () => {
    const other = object({ b: {} }, { additionalProperties: false });
    const schema = object({ way: { anyOf: [closed, other] } });
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`z${String(at)}`, at]));
    const { value } = validate(schema, withAbsence(schema, { way: { a: 'x', ...many } }));
    expect(JSON.stringify(value)).to.not.include('"z');
  });

  const values = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'z', 'rows'), fc.jsonValue({ maxDepth: 2 }));
  const members = fc.dictionary(
    fc.constantFrom('a', 'b', 'rows'),
    fc.constantFrom(...Object.values(NULLABLE), ...Object.values(STRICT)),
  );
  holds(
    'and nulls are as the schema has them, whatever a model answers; settling twice changes nothing',
    fc.property(members, fc.subarray(['a', 'b', 'rows']), values, (properties, required, value) => {
      const schema = object(properties, {
        ...DEFS,
        additionalProperties: false,
        required: required.filter((name) => name in properties),
      });
      const left = withAbsence(schema, value as JsonObject);
      expect(Object.keys(properties)).to.include.members(Object.keys(left));
      expect(withAbsence(schema, left)).to.deep.equal(left);
      const { errors } = validate(schema, left);
      for (const { keyword, path, actual } of errors)
        expect(actual === null && keyword !== 'required', `${keyword} at ${path}`).to.equal(false);
    }),
    0.05,
  );
});
