import { expect } from 'chai';
import { laidOut, type Placed } from '../../support/laidOut.ts';
import { setLarge, text, valueOf } from './asked.ts';
import { flowOf, heading, read, texts } from '../rows/flows.ts';
import type { Block } from '../../../document/document.ts';

const TITLE = 'How long slate roofs last near the sea';
const paper = setLarge(
  laidOut([
    [
      [60, 40, 'Journal of Roofs 31 (2022) 417–429'],
      [60, 80, TITLE],
      [60, 100, 'Ada Low1, Bo Renn2'],
      [60, 115, '1 Department of Roofing, University of Alder'],
      [60, 127, '2 Slate Institute, Leeds'],
      [60, 139, 'low@alder.example, bo@slate.example'],
      [
        60,
        160,
        'Slate lasts long, yet roofs near the sea fail early, as we show for forty of them in this study.',
      ],
    ],
  ]),
  [TITLE],
);

describe('a paper', () => {
  it('has the institutions of its authors below its title, with the marks of the authors', () => {
    expect(valueOf(paper, { affiliations: texts })).to.deep.equal({
      affiliations: ['Department of Roofing, University of Alder', 'Slate Institute, Leeds'],
    });
  });

  const authors = {
    type: 'array',
    items: { type: 'object', properties: { name: text, email: text, affiliation: text } },
  };

  it('says where each of its authors is, by the marks of their names, and how to write to them', () => {
    expect(valueOf(paper, { authors })).to.deep.equal({
      authors: [
        {
          name: 'Ada Low',
          email: 'low@alder.example',
          affiliation: 'Department of Roofing, University of Alder',
        },
        { name: 'Bo Renn', email: 'bo@slate.example', affiliation: 'Slate Institute, Leeds' },
      ],
    });
  });

  it('has one institution for all, and addresses of one host in braces', () => {
    const lines: readonly Placed[] = [
      [60, 40, TITLE],
      [60, 70, 'A. Low, B. Renn, and C. D. Moor'],
      [60, 84, 'Slate Laboratories, Leeds LS9 6QT'],
      [60, 98, '{low, renn}@slate.example, moor@roofs.example'],
      [60, 120, 'Abstract'],
      [60, 134, 'Slate lasts long.'],
    ];
    const affiliation = 'Slate Laboratories';
    expect(valueOf(setLarge(laidOut([lines]), [TITLE]), { authors })).to.deep.equal({
      authors: [
        { name: 'A. Low', email: 'low@slate.example', affiliation },
        { name: 'B. Renn', email: 'renn@slate.example', affiliation },
        { name: 'C. D. Moor', email: 'moor@roofs.example', affiliation },
      ],
    });
  });

  it('has no authors in the header of a table below its title', () => {
    const lines: readonly Placed[] = [
      [60, 40, TITLE],
      [60, 70, 'Pos Description'],
      [260, 70, 'Quantity'],
      [360, 70, 'Amount'],
      [60, 84, '1'],
      [90, 84, 'Slate'],
      [260, 84, '2'],
      [360, 84, '44.00'],
    ];
    const document = setLarge(laidOut([lines]), [TITLE]);
    expect(valueOf(document, { authors: texts })).to.deep.equal({});
  });

  const line = (content: string): Block => ({
    kind: 'paragraph',
    text: content,
    markdown: content,
    box: null,
  });

  it('has the works that it cites below their heading, without their marks', async () => {
    const document = await flowOf(
      heading('Results'),
      line('Slate lasts [1] and lasts [2].'),
      heading('References'),
      line('[1] Low A. Slate. Roofs 2019; 3: 1–9.'),
      line('[2] Renn B. Tiles.\nRoofs 2020; 4: 2–8.'),
    );
    expect(read(document, { references: texts }).value).to.deep.equal({
      references: ['Low A. Slate. Roofs 2019; 3: 1–9.', 'Renn B. Tiles. Roofs 2020; 4: 2–8.'],
    });
  });

  it('has works without marks where lines begin with authors', async () => {
    const document = await flowOf(
      heading('References'),
      line('Low, A. and Renn, B. (1989). Slate: a study of roofs.'),
      line('Slate Press, Leeds.'),
      line('Moor, C., Quill, D.-E., Tarn, F. G., and'),
      line(
        'Ash, J. (1987). Tiles in the wind. Roofs, 1:8-12.\nde Fell, K. & Van Gill, L. 2001. Salt. Roofs, 2(4).',
      ),
      line('Hay, M. (1990). Thatch of straw. In Low, A., editor,\nRoofs of the North, York. Straw Press.'),
    );
    expect(read(document, { references: texts }).value).to.deep.equal({
      references: [
        'Low, A. and Renn, B. (1989). Slate: a study of roofs. Slate Press, Leeds.',
        'Moor, C., Quill, D.-E., Tarn, F. G., and Ash, J. (1987). Tiles in the wind. Roofs, 1:8-12.',
        'de Fell, K. & Van Gill, L. 2001. Salt. Roofs, 2(4).',
        'Hay, M. (1990). Thatch of straw. In Low, A., editor, Roofs of the North, York. Straw Press.',
      ],
    });
  });

  it('has no work that the head of a page is a part of', async () => {
    const first = await flowOf(
      heading('References'),
      line('Low, A. (1989). Slate: a study of roofs.'),
      line('Ash, J. (1987). Tiles in the wind. Roofs, 1:8-12.'),
    );
    const second = await flowOf(
      line('404 Low, Ash and Hay'),
      line('Hay, M. (1990). Thatch of straw. Straw Press, York.'),
    );
    const pages = [...first.pages, ...second.pages.map((page) => ({ ...page, page: 2 }))];
    expect(read({ ...first, pages }, { references: texts }).value).to.deep.equal({
      references: [
        'Low, A. (1989). Slate: a study of roofs.',
        'Ash, J. (1987). Tiles in the wind. Roofs, 1:8-12.',
        'Hay, M. (1990). Thatch of straw. Straw Press, York.',
      ],
    });
  });

  it('has key words, whether they are written as one word or as two', async () => {
    const document = await flowOf(line('Key words: slate; salt; wind'));
    expect(read(document, { keywords: texts }).value).to.deep.equal({ keywords: ['slate', 'salt', 'wind'] });
  });
});

describe('who and when a document says without a label', () => {
  it('the one company that it names, wherever it stands', () => {
    const offer: readonly Placed[] = [
      [60, 40, 'Cooper wanted'],
      [
        60,
        300,
        'The Lower Quay Barrels Ltd in Leeds looks for a cooper who can begin in the autumn of the year.',
      ],
    ];
    expect(valueOf(laidOut([offer]), { employer: text })).to.deep.equal({
      employer: 'Lower Quay Barrels Ltd',
    });
    const two: readonly Placed[] = [
      ...offer,
      [60, 330, 'Write to Upper Quay Casks Ltd before the end of May.'],
    ];
    expect(valueOf(laidOut([two]), { employer: text })).to.deep.equal({});
  });

  it('what a sheet is about, by its title, unless that says what kind of document it is', () => {
    const page = (title: string) =>
      setLarge(
        laidOut([
          [
            [60, 40, title],
            [60, 90, 'Made of oak and iron.'],
          ],
        ]),
        [title],
      );
    expect(valueOf(page('Barrel B 40'), { product_name: text })).to.deep.equal({
      product_name: 'Barrel B 40',
    });
    expect(valueOf(page('Test Report 40'), { product_name: text })).to.deep.equal({});
  });
});
