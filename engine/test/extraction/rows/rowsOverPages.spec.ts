import { expect } from 'chai';
import { tableOf, type Block, type Document } from '../../../document/document.ts';
import { extract } from '../../../extraction/extract.ts';
import { laidOut } from '../../support/laidOut.ts';

const heading = (text: string): Block => ({ kind: 'heading', level: 2, text, markdown: text, box: null });

const paged = (...pages: readonly (readonly Block[])[]): Document => {
  const document = laidOut(pages.map(() => []));
  return { ...document, pages: document.pages.map((page, i) => ({ ...page, blocks: pages[i] ?? [] })) };
};

const pond = { pond: { type: 'string' }, keeper: { type: 'string' }, frogs: { type: 'integer' } };
const schema = {
  type: 'object',
  properties: { ponds: { type: 'array', items: { type: 'object', properties: pond } } },
};
const table = (...rows: string[][]): Block => tableOf([['Pond', 'Keeper', 'Frogs'], ...rows], 1);

describe('rows over pages', () => {
  it('go on on the next page under the title of the first, which names the list', () => {
    const document = paged(
      [heading('Ponds of the parish'), table(['Mill', 'Ada Low', '1'], ['Church', 'Bo Renn', '2'])],
      [table(['Manor', 'Cy Dow', '3'])],
    );
    expect(extract(document, schema).value['ponds']).to.deep.equal([
      { pond: 'Mill', keeper: 'Ada Low', frogs: 1 },
      { pond: 'Church', keeper: 'Bo Renn', frogs: 2 },
      { pond: 'Manor', keeper: 'Cy Dow', frogs: 3 },
    ]);
  });

  it('end where the next page has the same table under another title', () => {
    const document = paged(
      [heading('Ponds of the parish'), table(['Mill', 'Ada Low', '1'])],
      [heading('Wells'), table(['Manor', 'Cy Dow', '3'])],
    );
    expect(extract(document, schema).value['ponds']).to.deep.equal([
      { pond: 'Mill', keeper: 'Ada Low', frogs: 1 },
    ]);
  });
});
