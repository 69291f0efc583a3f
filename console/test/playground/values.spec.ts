import { expect } from 'chai';
import { corrected, readSchema, valueRows } from '../../src/document/values.ts';

const schema = {
  type: 'object',
  properties: {
    number: { type: 'string' },
    due: { type: 'string' },
    items: { type: 'array', items: { type: 'object', properties: { a: { type: 'number' } } } },
  },
};

describe('values of the playground', () => {
  it('stand in the order of the schema, absent ones too, with their place and faults', () => {
    const result = { items: [{ a: 1 }], number: 'X/1', extra: true };
    const citation = { path: '/items/0/a', text: '1', page: 1, bbox: null, confidence: 0.9 };
    const error = { path: '/number', keyword: 'pattern', message: 'wrong', params: {}, actual: 'X/1' };
    const rows = valueRows(result, schema, { citations: [citation], errors: [error] });
    expect(rows.map(({ path, value }) => [path, value])).to.deep.equal([
      ['/number', 'X/1'],
      ['/due', null],
      ['/items', undefined],
      ['/items/0', undefined],
      ['/items/0/a', '1'],
      ['/extra', 'true'],
    ]);
    expect(rows[0]?.errors).to.deep.equal(['wrong']);
    expect(rows[4]?.citation).to.equal(citation);
  });

  it('are corrected in a copy, numbers as numbers, and names of the language’s own as plain members', () => {
    const given = JSON.parse('{"a/b": 1, "__proto__": {"x": 1}}') as Record<string, unknown>;
    const right = corrected(
      given,
      new Map([
        ['/a~1b', '2.5'],
        ['/__proto__/y', 'z'],
      ]),
    );
    expect(right['a/b']).to.equal(2.5);
    expect(given['a/b']).to.equal(1);
    expect(({} as Record<string, unknown>)['y']).to.equal(undefined);
  });

  it('need a schema that is an object with properties', () => {
    expect(readSchema('{').fault).to.be.a('string');
    expect(readSchema('{"type":"string"}').fault).to.include('properties');
    expect(readSchema('{"type":"object","properties":{}}').fault).to.equal(undefined);
  });
});
