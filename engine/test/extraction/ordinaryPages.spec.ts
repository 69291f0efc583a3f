import { expect } from 'chai';
import { markdownDocument } from '../../formats/text/markdownDocument.ts';
import { textDocument } from '../../formats/text/textDocument.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { extract } from '../../extraction/extract.ts';

const TEXT = { type: 'string' };
const NUMBER = { type: 'number' };

const schemaOf = (properties: JsonObject): JsonObject => ({ type: 'object', properties });
const listOf = (properties: JsonObject, description = ''): JsonObject => ({
  type: 'array',
  description,
  items: schemaOf(properties),
});

/** What is read from lines whose columns are set apart with spaces. */
const fromText = (text: string, properties: JsonObject): Json =>
  extract(textDocument(text), schemaOf(properties)).value;
const fromMarkdown = (text: string, properties: JsonObject): Json =>
  extract(markdownDocument(text), schemaOf(properties)).value;

describe('what ordinary pages have in common', () => {
  it('rows of a single text are the entries below the heading that has the name of the list', () => {
    const page =
      '# Boat survey\n\n## Defects found\n\n- Cracked rudder stock\n- Worn anode on the shaft\n\n## Advice\n\nHaul out.';
    expect(fromMarkdown(page, { defectsFound: listOf({ defect: TEXT }) })).to.deep.equal({
      defectsFound: [{ defect: 'Cracked rudder stock' }, { defect: 'Worn anode on the shaft' }],
    });
  });

  it('a description may give the printed label in the script of the document', () => {
    const page = '船名  白鳥丸    船籍港  神戸\n総トン数  1,250';
    expect(
      fromText(page, {
        shipName: { ...TEXT, description: 'name of the ship (船名)' },
        homePort: { ...TEXT, description: 'port of registry (船籍港) as printed' },
        grossTons: { ...NUMBER, description: 'gross tonnage (総トン数)' },
      }),
    ).to.deep.equal({ shipName: '白鳥丸', homePort: '神戸', grossTons: 1250 });
  });

  it('a description may name the column', () => {
    const table =
      '| Stand | Vol. | Felled |\n|---|---|---|\n| North slope | 210 | 18 |\n| Old quarry | 150 | 14 |';
    const stands = listOf({
      place: { ...TEXT, description: 'the Stand value' },
      cubicMetres: { ...NUMBER, description: 'from the Vol. column' },
      removed: { ...NUMBER, description: 'trees taken out, see the Felled column' },
    });
    expect(fromMarkdown(table, { stands })).to.deep.equal({
      stands: [
        { place: 'North slope', cubicMetres: 210, removed: 18 },
        { place: 'Old quarry', cubicMetres: 150, removed: 14 },
      ],
    });
  });

  const READINGS =
    '| Sample | | Reading | Unit | Limits |\n|---|---|---|---|---|\n| Nitrate | | 12 | mg/l | 0 - 50 |\n' +
    '| Total Hardness | H | 31 | dH | 4 - 20 |\n| Iron | | 0.1 | mg/l | 0 - 0.2 |\n| Lead | L | 3 | ug/l | 5 - 10 |';

  it('a column without a header is that of the only text that has none, though few rows fill it', () => {
    const members = { sample: TEXT, reading: NUMBER, unit: TEXT, limits: TEXT, flag: TEXT };
    expect(fromMarkdown(READINGS, { readings: listOf(members) })).to.deep.equal({
      readings: [
        { sample: 'Nitrate', reading: 12, unit: 'mg/l', limits: '0 - 50' },
        { sample: 'Total Hardness', reading: 31, unit: 'dH', limits: '4 - 20', flag: 'H' },
        { sample: 'Iron', reading: 0.1, unit: 'mg/l', limits: '0 - 0.2' },
        { sample: 'Lead', reading: 3, unit: 'ug/l', limits: '5 - 10', flag: 'L' },
      ],
    });
  });

  it('a sum is no row, though a row may be called "Total" too', () => {
    const table =
      '| Sample | Reading | Unit | Limits |\n|---|---|---|---|\n| Nitrate | 12 | mg/l | 0 - 50 |\n' +
      '| Total Hardness | 31 | dH | 4 - 20 |\n| Total | 43 | | |';
    const { readings } = fromMarkdown(table, {
      readings: listOf({ sample: TEXT, reading: NUMBER, unit: TEXT, limits: TEXT }),
    }) as { readings: readonly JsonObject[] };
    expect(readings.map(({ sample }) => sample)).to.deep.equal(['Nitrate', 'Total Hardness']);
  });
});
