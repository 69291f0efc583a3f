import { expect } from 'chai';
import { textDocument } from '../../formats/text/textDocument.ts';
import { extract } from '../../extraction/extract.ts';
import { seenWarnings } from '../../extraction/confidenceFloor.ts';
import { exactNumber } from '../../kernel/text.ts';
import { objectInAnswer } from '../../kernel/jsonAnswer.ts';
import { parseNumber, scaledIn } from '../../extraction/values/numbers.ts';
import type { Json } from '../../kernel/json.ts';

const extracted = (text: string, properties: Record<string, Json>) =>
  extract(textDocument(text), { type: 'object', properties });

describe('a number that a text says', () => {
  it('is the number that is printed again, or none', () => {
    const held: readonly (readonly [string, number])[] = [
      ['9007199254740991', 9007199254740991],
      ['-12.50', -12.5],
      ['0.1', 0.1],
      ['1e3', 1000],
      ['6.022e23', 6.022e23],
      ['0.000', 0],
      ['12345678901234.56', 12345678901234.56],
    ];
    for (const [text, value] of held) expect(exactNumber(text), text).to.equal(value);
    for (const text of [
      '9007199254740993',
      '1e400',
      '-1e400',
      '1e-400',
      '12345678901234567.89',
      '0.12345678901234567891',
      '',
    ])
      expect(exactNumber(text), text).to.equal(undefined);
  });

  it('has groups as numbers have them', () => {
    for (const text of ['1.2.3', '12.34.56.78', '01.23.45.67.89', '1,2,3'])
      expect(parseNumber(text, '.'), text).to.equal(undefined);
    expect(parseNumber('12,34,567.5', '.')).to.equal(1234567.5);
    expect(scaledIn('1,234,567.8912 thousand', '.').map(({ value }) => value)).to.deep.equal([1234567891.2]);
  });
});

describe('digits that are asked for as a number', () => {
  const never: readonly (readonly [string, string])[] = [
    ['Account number: 9007199254740993', '9007199254740993'],
    ['Card number: 4111 1111 1111 1111', '4111 1111 1111 1111'],
    ['Phone: 030 1234567', '030 1234567'],
    ['Phone: 030 123 456', '030 123 456'],
    ['Phone: (030) 1234567', '(030) 1234567'],
    ['Phone: +49 30 1234567', '+49 30 1234567'],
    ['Meter reading: 12345678901234567.89', '12345678901234567.89'],
  ];
  for (const [line, text] of never)
    for (const type of ['integer', 'number'])
      it(`are never another number: ${line} by ${type}`, () => {
        const name = line.slice(0, line.indexOf(':')).toLowerCase().replace(' ', '_');
        const document = `Statement\n\n${line}\n\nRoom: 12\n`;
        const { value, seen } = extracted(document, { [name]: { type }, room: { type: 'integer' } });
        expect(value).to.deep.equal({ room: 12 });
        if (type === 'integer' && text.includes('.')) return;
        expect(seen.map(({ path, value: said, text: as }) => [path, said, as])).to.deep.equal([
          [`/${name}`, text, text],
        ]);
        expect(
          seenWarnings(seen, { min_confidence: 0.5 }).map(({ code, message }) => [code, message]),
        ).to.deep.equal([
          [
            'inexact_number',
            `Left out: "${text}" is no number that JSON carries exactly: ask for it as a string.`,
          ],
        ]);
      });

  it('are text where text is asked for', () => {
    for (const [line, text] of never.slice(0, 3)) {
      const name = line.slice(0, line.indexOf(':')).toLowerCase().replace(' ', '_');
      expect(extracted(line, { [name]: { type: 'string' } }).value).to.deep.equal({ [name]: text });
    }
  });

  it('are numbers where they are', () => {
    const read = (line: string, name: string): Json | undefined =>
      extracted(line, { [name]: { type: 'number' } }).value[name];
    expect(read('Weight: 12 500 kg', 'weight')).to.equal(12500);
    expect(read('Account number: 9007199254740991', 'account_number')).to.equal(9007199254740991);
    expect(read('Rooms: 12', 'rooms')).to.equal(12);
  });

  it('are left out of rows, and the rest of the row stays', () => {
    const rows = {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' }, account: { type: 'integer' } } },
    };
    const csv = '| Name | Account |\n| --- | --- |\n| Ann | 9007199254740993 |\n| Bob | 12 |\n';
    const { value, seen } = extracted(csv.replaceAll('| ', '').replaceAll(' |', '\t'), { people: rows });
    expect(JSON.stringify(value)).not.to.include('9007199254740992');
    expect(seen.filter(({ inexact }) => inexact !== true)).to.deep.equal([]);
  });
});

describe("numbers in a model's answer", () => {
  it('that no double holds are texts as they were written, for the schema to complain of', () => {
    expect(
      objectInAnswer(
        '{"a": 9007199254740993, "b": [1e400, -1e400, 12.5], "c": "1e400", "d": 1e3, "1e400": 0}',
      ),
    ).to.deep.equal({
      a: '9007199254740993',
      b: ['1e400', '-1e400', 12.5],
      c: '1e400',
      d: 1000,
      '1e400': 0,
    });
    expect(objectInAnswer('Here: {"a": "x \\" 1e999 \\\\", "b":1e999}')).to.deep.equal({
      a: 'x " 1e999 \\',
      b: '1e999',
    });
  });
});
