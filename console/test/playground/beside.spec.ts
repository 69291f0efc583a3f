import { expect } from 'chai';
import { fieldsBeside } from '../../src/pages/playground/beside.ts';
import { valuesBeside } from '../../src/document/beside.ts';
import { valueRows, type SchemaPart } from '../../src/document/values.ts';

const of = (properties: Readonly<Record<string, SchemaPart>>): SchemaPart => ({ type: 'object', properties });
const rows = (result: object) => valueRows(result, undefined, { citations: [], errors: null });

describe('side by side', () => {
  it('each field of some schemas stands once, where it stands in the first that has it', () => {
    const lines = fieldsBeside([
      of({ a: { type: 'string' }, list: { type: 'array', items: of({ x: { type: 'number' } }) } }),
      of({ z: {}, a: { type: 'string' }, b: { type: 'number' }, list: { type: 'array', items: of({}) } }),
    ]);
    expect(lines).to.deep.equal([
      { path: 'z', kinds: [undefined, 'json'], isSame: false },
      { path: 'a', kinds: ['string', 'string'], isSame: true },
      { path: 'b', kinds: [undefined, 'number'], isSame: false },
      { path: 'list', kinds: ['rows', 'rows'], isSame: true },
      { path: 'list.x', kinds: ['number', undefined], isSame: false },
    ]);
  });

  it('values are the same only where both say the same, and one that is absent is none', () => {
    const lines = valuesBeside(
      rows({ total: 1, name: 'A', none: null, items: [{ x: 1 }] }),
      rows({ total: 1, name: 'B', items: [{ x: 1 }, { x: 2 }] }),
    );
    expect(lines.map(({ path, isSame }) => [path, isSame])).to.deep.equal([
      ['/total', true],
      ['/name', false],
      ['/none', true],
      ['/items/0/x', true],
      ['/items/1/x', false],
    ]);
  });
});
