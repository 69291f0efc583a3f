import { expect } from 'chai';
import { checkSchemaRules } from '../../extraction/schema/schemaRules.ts';
import { checkSchema, validate } from '../../extraction/schema/validation.ts';

const object = (properties: object): Record<string, unknown> => ({ type: 'object', properties });

describe('the rules for a schema', () => {
  const bad: readonly (readonly [string, unknown, RegExp])[] = [
    ['is no object', [], /must be a JSON object/],
    ['has no type', { properties: { a: {} } }, /"type": "object"/],
    ['has another type', { type: 'array', items: {} }, /"type": "object"/],
    ['has no properties', { type: 'object' }, /"properties"/],
    ['has empty properties', object({}), /at least one/],
    [
      'refers to elsewhere',
      object({ a: { $ref: 'https://example.org/s.json' } }),
      /at #\/properties\/a .*only local/,
    ],
    ['refers to a file', object({ a: { $ref: 'other.json#/x' } }), /only local/],
    ['refers to nothing', object({ a: { $ref: '#/$defs/none' } }), /not in the schema/],
    [
      'has a name of its own inside',
      object({ a: { $id: 'https://a.example/b' } }),
      /at #\/properties\/a .*"\$id"/i,
    ],
    ['refers dynamically', object({ a: { $dynamicRef: '#' } }), /"\$dynamicRef"/],
  ];
  for (const [name, schema, detail] of bad)
    it(`refuse one that ${name}`, () => {
      const verdict = checkSchemaRules(schema);
      expect(verdict.kind).to.equal('invalid_schema');
      expect(verdict).to.have.property('detail').that.matches(detail);
    });

  it('admit nesting, arrays, enums, formats, local references, and a property called $ref', () => {
    const schema = {
      ...object({
        date: { type: 'string', format: 'date' },
        seller: { $ref: '#/$defs/party' },
        tags: { type: 'array', items: { enum: ['a', 'b'] } },
        $ref: { type: 'string' },
      }),
      $defs: {
        party: object({
          name: { type: ['string', 'null'] },
          parents: { type: 'array', items: { $ref: '#/$defs/party' } },
        }),
      },
    };
    expect(checkSchemaRules(schema).kind).to.equal('ok');
    expect(checkSchema(schema as never).kind).to.equal('ok');
  });

  it('do not run out of stack on a bomb of nesting', () => {
    let bomb: object = {};
    for (let i = 0; i < 100_000; i += 1) bomb = { not: bomb };
    expect(checkSchemaRules(object({ a: bomb })).kind).to.equal('schema_beyond_limits');
  });
});

describe('validation', () => {
  it('takes drafts 07 and 2020-12', () => {
    const old = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      ...object({ a: { type: 'array', items: [{}] } }),
    };
    const recent = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...object({ a: { prefixItems: [{}] } }),
    };
    expect(checkSchema(old).kind).to.equal('ok');
    expect(checkSchema(recent).kind).to.equal('ok');
  });

  it('says why a schema does not compile', () => {
    expect(checkSchema(object({ a: { type: 'string', pattern: '(' } }) as never))
      .to.have.property('detail')
      .that.includes('regular expression');
  });

  it('keeps what is valid, moves out what is not, and points to what is missing', () => {
    const schema = {
      ...object({
        'a/b': { type: 'string', format: 'date' },
        n: { type: 'integer' },
        rows: { type: 'array', items: { ...object({ q: { type: 'number', minimum: 3 } }), required: ['r'] } },
      }),
      required: ['x'],
      additionalProperties: false,
    };
    const value = { 'a/b': '2031-02-30', n: 4, rows: [{ q: 1, r: 2 }, { q: 4 }], z: true };
    const { value: kept, errors } = validate(schema, value);
    expect(kept).to.deep.equal({ n: 4, rows: [{ r: 2 }, { q: 4 }] });
    expect(errors.map(({ path, keyword, actual }) => [path, keyword, actual])).to.have.deep.members([
      ['/x', 'required', null],
      ['/z', 'additionalProperties', true],
      ['/a~1b', 'format', '2031-02-30'],
      ['/rows/0/q', 'minimum', 1],
      ['/rows/1/r', 'required', null],
    ]);
  });
});

describe('values with members named as every object has them', () => {
  for (const name of ['toString', 'valueOf', 'constructor'])
    it(`are compared as others are: ${name}`, () => {
      const row = { type: 'object', properties: { [name]: { type: 'string' } } };
      const given = [{ [name]: 'a' }, { [name]: 'b' }];
      const rows = { type: 'array', uniqueItems: true, items: row };
      const schema = object({ rows, one: { enum: given }, other: { const: given[1] } }) as never;
      const value = { rows: given, one: { [name]: 'b' }, other: { [name]: 'b' } };
      expect(validate(schema, value).errors).to.deep.equal([]);
      const twice = { ...value, rows: [{ [name]: 'a' }, { [name]: 'a' }], one: { [name]: 'c' } };
      expect(validate(schema, twice).errors.map(({ path }) => path)).to.deep.equal(['/rows', '/one']);
    });
});
