import { expect } from 'chai';
import fc from 'fast-check';
import {
  added,
  changed,
  entriesOf,
  flatFields,
  KINDS,
  kindOf,
  moved,
  removed,
  withInside,
  withKind,
} from '../../src/pages/playground/fields.ts';
import { TEMPLATE_NAMES, templateText, type SchemaPart } from '../../src/pages/playground/values.ts';

const template = (name: (typeof TEMPLATE_NAMES)[number]) => JSON.parse(templateText(name)) as SchemaPart;
const namesOf = (schema: SchemaPart) => entriesOf(schema).map(([name]) => name);

const SCHEMA: SchemaPart = {
  type: 'object',
  description: 'kept',
  properties: { a: { type: 'string' }, b: { type: 'number' }, c: { type: ['boolean', 'null'] } },
  required: ['b', 'a'],
};

describe('the fields of a schema', () => {
  it('of every template are all rows: none is left to JSON', () => {
    for (const name of TEMPLATE_NAMES)
      for (const { path, kind } of flatFields(template(name)))
        expect(kind, `${name} ${path}`).to.be.a('string');
    expect(flatFields(template('receipt')).map(({ path }) => path)).to.include('line_items.amount');
  });

  it('keep their order and stay required under another name', () => {
    expect(changed(SCHEMA, 1, ['net', { type: 'number' }])).to.deep.equal({
      ...SCHEMA,
      properties: { a: { type: 'string' }, net: { type: 'number' }, c: { type: ['boolean', 'null'] } },
      required: ['net', 'a'],
    });
    expect(namesOf(changed(SCHEMA, 1, ['net', {}]))).to.deep.equal(['a', 'net', 'c']);
  });

  it('that are removed are no longer required', () => {
    expect(removed(SCHEMA, 0)).to.deep.include({ required: ['b'], description: 'kept' });
  });

  it('are moved, and not beyond the ends', () => {
    expect(namesOf(moved(SCHEMA, 0, 1))).to.deep.equal(['b', 'a', 'c']);
    expect(namesOf(moved(SCHEMA, 0, -1))).to.deep.equal(['a', 'b', 'c']);
    expect(namesOf(moved(SCHEMA, 2, 1))).to.deep.equal(['a', 'b', 'c']);
  });

  it('are of each kind that can be chosen, and keep description and rows where another has some, too', () => {
    for (const kind of KINDS) {
      const part = withKind({ type: 'string', description: 'said' }, kind);
      expect(kindOf(part), kind).to.equal(kind);
      expect(part.description).to.equal('said');
    }
    const rows = withKind({ type: 'object', properties: { x: { type: 'date' } } }, 'rows');
    expect(rows).to.deep.equal({
      type: 'array',
      items: { type: 'object', properties: { x: { type: 'date' } } },
    });
    const inside: SchemaPart = { type: 'object', properties: { y: { type: 'string' } } };
    expect(withInside(rows, inside).items).to.equal(inside);
    expect(withInside(inside, SCHEMA)).to.equal(SCHEMA);
  });

  it('that only JSON can say are told as that', () => {
    expect(kindOf({ type: ['string', 'number'] })).to.equal(undefined);
    expect(kindOf({})).to.equal(undefined);
    expect(kindOf({ type: 'array', items: { type: 'array', items: {} } })).to.equal(undefined);
    expect(kindOf({ type: 'object' })).to.equal(undefined);
  });

  it('never share a name, however many are added and removed', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { maxLength: 40 }), (steps) => {
        const grown = steps.reduce<readonly [SchemaPart, number]>(
          ([schema, count], step) =>
            step > 3 && count > 0 ? [removed(schema, step % count), count - 1] : [added(schema), count + 1],
          [{ type: 'object', properties: {} }, 0],
        );
        return entriesOf(grown[0]).length === grown[1];
      }),
    );
  });
});
