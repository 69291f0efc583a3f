import { expect } from 'chai';
import { tableOf } from '../../../document/document.ts';
import { extract } from '../../../extraction/extract.ts';
import { openFlow } from '../../../formats/pieces/flow.ts';

const part = {
  part_number: { type: 'string' },
  description: { type: 'string' },
  weight_kg: { type: 'number' },
  standard_cost: { type: 'number' },
};
const schema = {
  type: 'object',
  properties: { parts: { type: 'array', items: { type: 'object', properties: part } } },
};

async function partsUnder(...header: readonly string[]) {
  const blocks = [tableOf([header, ['A-1', 'Lever', '1.3', '9.90']], 1)];
  const read = await openFlow({ mimeType: 'text/html', blocks }).read();
  return read.kind === 'ok' ? extract(read.document, schema).value['parts'] : read.kind;
}

describe('headers that are short for a word', () => {
  it('may be cut, or written without their vowels', async () => {
    expect(await partsUnder('Pt. No.', 'Descr.', 'Wt (kg)', 'Std cost')).to.deep.equal([
      { part_number: 'A-1', description: 'Lever', weight_kg: 1.3, standard_cost: 9.9 },
    ]);
  });

  it('may end in another letter than the word of the schema', async () => {
    const blocks = [
      tableOf(
        [
          ['Candidat', 'Parti'],
          ['Zoé Adel', 'Reed List'],
        ],
        1,
      ),
    ];
    const read = await openFlow({ mimeType: 'text/html', blocks }).read();
    const properties = { candidate: { type: 'string' }, party: { type: 'string' } };
    const votes = { type: 'array', items: { type: 'object', properties } };
    const asked = { type: 'object', properties: { votes } };
    expect(read.kind === 'ok' && extract(read.document, asked).value['votes']).to.deep.equal([
      { candidate: 'Zoé Adel', party: 'Reed List' },
    ]);
  });

  it('begin and end as the word does', async () => {
    expect(await partsUnder('Pr', 'Ds', 'Wh', 'Cs')).to.equal(undefined);
  });
});
