import { expect } from 'chai';
import { withAbsence } from '../../extraction/grounding/absence.ts';
import { validate, checkSchema } from '../../extraction/schema/validation.ts';
import { checkSchemaRules } from '../../extraction/schema/schemaRules.ts';
import type { JsonObject } from '../../kernel/json.ts';

const parsed = (text: string): JsonObject => JSON.parse(text) as JsonObject;
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});
const keywords = (schema: JsonObject, value: JsonObject): readonly string[] =>
  validate(schema, value).errors.map(({ path, keyword }) => `${path} ${keyword}`);

describe('members that are named as those every object has', () => {
  const NAMES = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'];
  const asked = parsed(
    `{"type": "object", "properties": {${NAMES.map((name) => `"${name}": {"type": "string"}`).join(', ')}}}`,
  );

  it('may be absent where they are optional', () => {
    const { value, errors } = validate(asked, withAbsence(asked, {}));
    expect(errors).to.deep.equal([]);
    expect(Object.keys(value)).to.deep.equal([]);
  });

  it('are missed where they are required', () => {
    expect(keywords({ ...asked, required: NAMES }, {})).to.have.members(
      NAMES.map((name) => `/${name} required`),
    );
  });

  it('are held against their schemas, and told as they stand', () => {
    const value = parsed(`{${NAMES.map((name) => `"${name}": 1`).join(', ')}}`);
    const { value: kept, errors } = validate(asked, withAbsence(asked, value));
    expect(errors.map(({ path, keyword, actual }) => [path, keyword, actual])).to.have.deep.members(
      NAMES.map((name) => [`/${name}`, 'type', 1]),
    );
    expect(Object.keys(kept)).to.deep.equal([]);
  });

  it('are kept where they fit, under a closed schema too', () => {
    const closed = { ...asked, additionalProperties: false };
    const value = parsed(`{${NAMES.map((name) => `"${name}": "x"`).join(', ')}}`);
    const { value: kept, errors } = validate(closed, withAbsence(closed, value));
    expect(errors).to.deep.equal([]);
    expect(Object.keys(kept)).to.have.members(NAMES);
  });
});

describe('the draft of a schema', () => {
  const kept = { $schema: 'http://json-schema.org/draft-07/schema#' };
  const recent: readonly (readonly [string, JsonObject, JsonObject])[] = [
    ['prefixItems', { type: 'array', prefixItems: [{ type: 'number' }] }, parsed('{"a": ["x"]}')],
    ['minContains', { type: 'array', contains: { const: 1 }, minContains: 2 }, parsed('{"a": [1]}')],
    ['dependentRequired', { type: 'object', dependentRequired: { b: ['c'] } }, parsed('{"a": {"b": 1}}')],
    ['unevaluatedProperties', { type: 'object', unevaluatedProperties: false }, parsed('{"a": {"b": 1}}')],
  ];
  for (const [word, schema, value] of recent)
    it(`is 2020-12 where nothing is said: ${word} counts`, () => {
      expect(keywords(object({ a: schema }), value)).to.have.length(1);
      expect(keywords(object({ a: schema }, { definitions: { b: {} } }), value)).to.have.length(1);
      expect(keywords(object({ a: schema }, kept), value)).to.deep.equal([]);
    });

  it('is an older one where it uses words that only those have, and newer words count beside them', () => {
    const list = { type: 'array', items: [{ type: 'number' }], additionalItems: false };
    expect(keywords(object({ a: list }), parsed('{"a": [1]}'))).to.deep.equal([]);
    expect(keywords(object({ a: list }), parsed('{"a": ["x"]}'))).to.deep.equal(['/a/0 type']);
    expect(keywords(object({ a: list }), parsed('{"a": [1, 2]}'))).to.deep.equal(['/a additionalItems']);
    expect(
      keywords(object({ a: { ...list, minContains: 2, contains: { const: 1 } } }), { a: [1] }),
    ).to.deep.equal(['/a contains']);
    const depends = object({ a: {}, b: {} }, { dependencies: { a: ['b'] } });
    expect(keywords(depends, { a: 1 })).to.deep.equal([' dependencies']);
  });

  it('is never two at once', () => {
    const both = object({ a: { type: 'array', items: [{}] }, b: { type: 'array', prefixItems: [{}] } });
    expect(checkSchema(both))
      .to.have.property('detail')
      .that.matches(/"items" as a list.*"prefixItems".*"\$schema"/);
  });

  it('is told by words of schemas, not by values or names', () => {
    const named = object({
      a: { enum: [{ items: [1] }] },
      dependencies: { type: 'array', prefixItems: [{}] },
    });
    expect(checkSchema(named).kind).to.equal('ok');
    expect(keywords(named, { a: { items: [1] }, dependencies: [1] })).to.deep.equal([]);
  });
});

describe('$ref in a value', () => {
  const values: readonly JsonObject[] = [
    { enum: [{ $ref: 'https://example.org/' }] },
    { const: { $ref: '#/nowhere' } },
    { default: { $ref: 'other.json' }, examples: [{ $ref: 'other.json' }] },
  ];
  for (const schema of values)
    it(`is a value: ${JSON.stringify(schema)}`, () => {
      const whole = object({ a: schema });
      expect(checkSchemaRules(whole)).to.deep.equal({ kind: 'ok', schema: whole });
      expect(checkSchema(whole).kind).to.equal('ok');
    });

  it('is a reference wherever a schema stands, in what is referred to as well', () => {
    for (const schema of [
      object({ a: { dependentSchemas: { b: { $ref: 'other.json' } } } }),
      object({ a: {} }, { $defs: { b: { $ref: 'other.json' } } }),
      object({ a: { $ref: '#/x-shelf/b' } }, { 'x-shelf': { b: { items: { $ref: 'other.json' } } } }),
    ])
      expect(checkSchemaRules(schema)).to.have.property('detail').that.includes('only local');
  });
});

describe('a pattern', () => {
  const fits = (pattern: string, text: string): boolean =>
    keywords(object({ a: { type: 'string', pattern } }), { a: text }).length === 0;

  it('takes time that grows with the text, whatever it is', () => {
    for (const hostile of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '^(?:a*)*b$', '(?:a?){40}a{40}$'])
      expect(fits(hostile, `${'a'.repeat(50_000)}!`), hostile).to.equal(false);
  });

  it('of a format takes as little', () => {
    const url = object({ a: { type: 'string', format: 'url' } });
    expect(keywords(url, { a: 'https://user:word@example.org:8080/a?b#c' })).to.deep.equal([]);
    expect(keywords(url, { a: `http://${':'.repeat(400_000)}` })).to.deep.equal(['/a format']);
  });

  it('of names takes as little', () => {
    const name = `${'a'.repeat(50_000)}!`;
    const closed = object({ b: {} }, { patternProperties: { '^(a+)+$': {} }, additionalProperties: false });
    expect(Object.keys(withAbsence(closed, { [name]: 1 }))).to.deep.equal([]);
    expect(keywords(closed, { [name]: 1 })).to.deep.equal([`/${name} additionalProperties`]);
  });

  const alike: readonly (readonly [pattern: string, ...texts: string[]])[] = [
    [String.raw`^\d{4}-\d{2}$`, '2031-04', '2031-4', '٢٠٣١-٠٤'],
    [String.raw`^\s\S$`, '\u00a0x', '\u2028x', '\ufeffx', 'xx', '\u000bx'],
    ['^.$', 'a', '\n', '\r', '\u2028', '🐲', '\ud83d'],
    [String.raw`\bRef\b`, 'a Ref b', 'aRef', 'äRef'],
    ['^[^]$', '\n', 'a', ''],
    [String.raw`^[\w.+-]+@[a-z]+\.\p{Ll}{2,}$`, 'a.b@c.de', 'a b@c.de', 'a@c.äö'],
    [String.raw`^\p{Script=Greek}\p{Letter}\P{L}$`, 'αb1', 'abc', 'αβγ'],
    [String.raw`^[\p{Lu}\d]{2}$`, 'Ä1', 'ä1', 'Z9'],
    [String.raw`^\u0041\x42\cJ\0\u{1F600}\/-$`, 'AB\n\0😀/-', 'AB'],
    ['^(?<year>[12]\\d{3})|(x)$', '2031', 'x', '0'],
    ['^(?:|a)$', '', 'a', 'b'],
    ['a{0}b*?c+?', 'c', 'b', 'bbcc'],
    [String.raw`^[\b]\t\v\f\r\n$`, '\b\t\u000b\f\r\n', 'b'],
    ['^🐲+$', '🐲🐲', '🐲\ud83d', ''],
    ['[]', 'a', ''],
  ];
  for (const [pattern, ...texts] of alike)
    it(`means what it means in ECMAScript: ${pattern}`, () => {
      for (const text of texts)
        expect(fits(pattern, text), JSON.stringify(text)).to.equal(new RegExp(pattern, 'u').test(text));
    });

  const refused: readonly (readonly [string, RegExp])[] = [
    ['^(?=.*[A-Z])', /at #\/properties\/a .*lookaround/i],
    ['(?<!a)b', /lookaround/],
    [String.raw`(a)\1`, /backreference/],
    [String.raw`(?<x>a)\k<x>`, /backreference/],
    ['a{1001}', /1000/],
    ['(?:a{100}){100}', /too large/],
    ['(', /regular expression/],
    ['[[:alpha:]]', /regular expression/],
    ['(?i)a', /regular expression/],
  ];
  for (const [pattern, detail] of refused)
    it(`that no linear engine can look for is refused with a sentence: ${pattern}`, () => {
      expect(checkSchema(object({ a: { type: 'string', pattern } })))
        .to.have.property('detail')
        .that.matches(detail);
      expect(checkSchema(object({ a: {} }, { patternProperties: { [pattern]: {} } })).kind).to.equal(
        'invalid_schema',
      );
    });
});
