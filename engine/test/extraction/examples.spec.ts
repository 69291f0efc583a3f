import { expect } from 'chai';
import { extract } from '../../extraction/extract.ts';
import { examplesApart } from '../../extraction/fields/examples.ts';
import { textDocument } from '../../formats/text/textDocument.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';

const said = (lines: string, properties: JsonObject): Json =>
  extract(textDocument(lines), { type: 'object', properties }).value;

const told = (description: string): JsonObject => ({ type: 'string', description });

describe('examples of a schema', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ["the ferry's quay, e.g. 'North Hall' or 'Quay 3'", "the ferry's quay", ['North Hall', 'Quay 3']],
    ['flag if printed (e.g. H, L), else null', 'flag if printed , else null', ['H', 'L']],
    ['place of issue (for example "Turku")', 'place of issue', ['Turku']],
    ['Name, z. B. Virtanen. Der Familienname', 'Name. Der Familienname', ['Virtanen']],
    ['目的区分, 例: 業務、研修', '目的区分', ['業務', '研修']],
    ['EG-Nummer des Stoffes', 'EG-Nummer des Stoffes', []],
    ['例外の番号', '例外の番号', []],
    ['the eggs of a hen', 'the eggs of a hen', []],
  ];
  for (const [description, rest, examples] of cases)
    it(`are taken out of "${description}"`, () => {
      expect(examplesApart(description)).to.deep.equal({ rest, examples });
    });

  it('are no labels', () => {
    const lines = 'Turku: 17\nSailing from Naantali\n';
    const port = told("the port where the agent has an office (e.g. 'Turku')");
    expect(said(lines, { agent_port: port })).to.deep.equal({});
  });

  it('make digits alone doubtful where they are letters, and the reverse', () => {
    const [words, digits] = [{ examples: ['North Hall'] }, { examples: ['12', '7'] }];
    const sure = (line: string, more: JsonObject): number => {
      const schema = { type: 'object', properties: { quay: { type: 'string', ...more } } };
      return extract(textDocument(line), schema).citations[0]?.confidence ?? 0;
    };
    for (const [line, like, unlike] of [
      ['Quay: 14', digits, words],
      ['Quay: Old Harbour', words, digits],
    ] as const) {
      expect(sure(line, like)).to.equal(sure(line, {}));
      expect(sure(line, unlike)).to.be.lessThan(0.6);
    }
    expect(sure('Quay: 14 b', words)).to.equal(sure('Quay: 14 b', {}));
  });

  it('keep a column from a field whose values are not like it', () => {
    const lines = [
      'Weeks       Price     Remarks',
      '1 - 4       120.00    quiet',
      '5 - 8       140.00    no dogs',
      '9 - 12      160.00    sold out',
    ].join('\n');
    const found = (lot: JsonObject): Json => {
      const row = { weeks: { type: 'string' }, price: { type: 'number' }, lot: { type: 'string', ...lot } };
      return said(lines, { rents: { type: 'array', items: { type: 'object', properties: row } } });
    };
    const rows = [
      { weeks: '1 - 4', price: 120 },
      { weeks: '5 - 8', price: 140 },
      { weeks: '9 - 12', price: 160 },
    ];
    expect(found({})).to.deep.equal({ rents: rows.map((row, i) => ({ ...row, lot: LOTS[i] })) });
    expect(found({ examples: ['14', '208'] })).to.deep.equal({ rents: rows });
  });
});

const LOTS = ['quiet', 'no dogs', 'sold out'];
