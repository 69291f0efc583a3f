import { expect } from 'chai';
import fc from 'fast-check';
import { mendedLigatures } from '../../layout/direction.ts';
import { layoutPages } from '../../layout/pages/layoutPages.ts';
import type { PlacedWord, Rule } from '../../layout/content.ts';
import type { Block } from '../../document/document.ts';
import { line, markdown, pageOf } from '../support/drawnPages.ts';
import { holds } from '../support/properties.ts';

const textsOf = (blocks: readonly Block[]): string =>
  blocks
    .map((block) => (block.kind === 'table' ? block.cells.map(({ text }) => text).join(' ') : block.text))
    .join(' ');

const PROSE = [
  'This is a line of running text that fills the width',
  'of its column, and it is followed by other lines of',
  'the same width, so that a reader sees one paragraph',
  'which ends here.',
];

describe('layout', () => {
  it('joins lines to a paragraph, and closes hyphens but of compounds', () => {
    const words = [
      line('A well-known text about the interpre-', [50, 100]),
      line('tation of some lines that are well-', [50, 112]),
      line('known to all.', [50, 124]),
    ];
    expect(markdown(pageOf(words))).to.equal(
      'A well-known text about the interpretation of some lines that are well-known to all.\n',
    );
  });

  it('takes the code of an area before a telephone number for no number of an item', () => {
    const telephones = ['(605) 574-3184 telephone', '(605) 574-2307 fax', '704. 398-0046'];
    const read = markdown(pageOf(telephones.map((text, i) => line(text, [50, 100 + 30 * i]))));
    expect(read.replace(/\s+/g, ' ').replaceAll('\\', '').trim()).to.equal(telephones.join(' '));
  });

  it('reads columns of prose one after the other, below a title across both', () => {
    const left = PROSE.map((text, i) => line(text, [40, 100 + 12 * i]));
    const right = PROSE.map((text, i) => line(text.replace('This', 'That'), [330, 100 + 12 * i]));
    const read = markdown(
      pageOf([line('A Title Over Both Columns', [150, 40], { size: 20 }), ...right, ...left]),
    );
    expect(read.indexOf('# A Title')).to.equal(0);
    expect(read.indexOf('This is')).to.be.lessThan(read.indexOf('That is'));
    expect(read).to.contain('one paragraph which ends here.');
  });

  it('keeps rows of level cells together as a table', () => {
    const rows = [
      ['Item', 'Quantity', 'Price'],
      ['Screws', '12', '3.40'],
      ['Nails', '500', '9.90'],
    ];
    const words = rows.flatMap((row, i) => row.map((cell, j) => line(cell, [50 + 150 * j, 100 + 16 * i])));
    expect(markdown(pageOf(words))).to.equal(
      '| Item | Quantity | Price |\n| --- | --- | --- |\n| Screws | 12 | 3.40 |\n| Nails | 500 | 9.90 |\n',
    );
  });

  it('takes cells between rules as they are drawn, with spans', () => {
    const across = [100, 120, 140].map((y): Rule => [50, y, 250, y]);
    const down: readonly Rule[] = [
      [50, 100, 50, 140],
      [250, 100, 250, 140],
      [150, 120, 150, 140],
    ];
    const words = [
      line('Both', [60, 104]),
      line('left', [60, 124]),
      line('right', [160, 124]),
      line('more', [190, 124]),
    ];
    expect(markdown(pageOf(words, [...across, ...down]))).to.equal(
      '| Both | Both |\n| --- | --- |\n| left | right more |\n',
    );
  });

  it('joins a wrapped cell to its row', () => {
    const words = [
      line('Name', [50, 100]), line('Text', [150, 100]), line('Sum', [400, 100]),
      line('A', [50, 130]), line('a description that', [150, 130]), line('1.00', [400, 130]),
      line('goes on', [150, 141]),
      line('B', [50, 160]), line('short', [150, 160]), line('2.00', [400, 160]),
    ]; // prettier-ignore
    expect(markdown(pageOf(words))).to.contain(
      '| A | a description that goes on | 1.00 |\n| B | short | 2.00 |',
    );
  });

  it('keeps columns apart that a narrow header and a wide total lie across', () => {
    const rows = [0, 1, 2].flatMap((i) => [
      line(`${i + 1}`, [50, 120 + 16 * i]),
      line('A description of things', [70, 120 + 16 * i]),
      line('12', [300, 120 + 16 * i]),
      line('34.50', [400, 120 + 16 * i]),
    ]);
    const words = [
      line('Nr', [50, 100]), line('Text', [68, 100]), line('Count', [290, 100]), line('Sum', [400, 100]),
      ...rows,
      line('The total of all this together', [170, 168]), line('99.00', [400, 168]),
    ]; // prettier-ignore
    const read = markdown(pageOf(words));
    expect(read).to.match(/^\| Nr \| Text \| Count \| Sum \|\n/);
    expect(read).to.contain('| 2 | A description of things | 12 | 34.50 |');
  });

  it('tells headings by size and by bold type, in levels', () => {
    const words = [
      line('Report', [50, 40], { size: 20 }),
      line('Summary', [50, 80], { bold: true }),
      ...PROSE.map((text, i) => line(text, [50, 100 + 12 * i])),
    ];
    expect(markdown(pageOf(words))).to.match(/^# Report\n\n## Summary\n\nThis is/);
  });

  it('tells headings that are hardly larger than the text by what the whole document does', () => {
    const section = (title: string, y: number): readonly (readonly PlacedWord[])[] => [
      line(title, [50, y], { size: 10.8 }),
      ...PROSE.map((text, i) => line(text, [50, y + 18 + 12 * i])),
    ];
    const faced = [...section('First things', 60), ...section('Second things', 140)].map((words) =>
      words.map((word) => ({ ...word, face: 'Serif' })),
    );
    const read = markdown(pageOf(faced));
    expect(read).to.match(/^# First things\n\nThis is/);
    expect(read).to.contain('\n\n# Second things\n\n');
  });

  it('takes neither captions nor notes for headings, and bullets of symbol fonts for bullets', () => {
    const words = [
      line('Table 3: what there is', [50, 40], { bold: true }),
      line('Source: the harbour', [50, 60], { bold: true }),
      line('\uf0b7 an item', [50, 80]),
      ...PROSE.map((text, i) => line(text, [50, 110 + 12 * i])),
    ];
    const read = markdown(pageOf(words));
    expect(read).not.to.contain('#');
    expect(read).to.contain('- an item');
  });

  it('nests lists by indent and numbers them', () => {
    const words = [
      line('• one', [50, 100]),
      line('• two that', [50, 114]),
      line('goes on', [60, 126]),
      line('• inner', [70, 140]),
      line('1. first', [50, 180]),
      line('2. second', [50, 194]),
    ];
    expect(markdown(pageOf(words))).to.equal('- one\n- two that goes on\n    - inner\n1. first\n2. second\n');
  });

  it('reads lines from right to left in logical order, Latin words within them as they are', () => {
    const words = [...line('OpenAI', [100, 100]), ...line('مع', [140, 100]), ...line('.العمل', [160, 100])];
    const flipped = pageOf([words]);
    expect(markdown(flipped).trim()).to.equal('العمل. مع OpenAI');
  });

  it('turns ligatures of lam and alef the right way round where they can only be wrong', () => {
    expect(mendedLigatures('اإلنتاجية األدوات')).to.equal('الإنتاجية الأدوات');
    const right = 'إلى ألف الإنتاجية مجال';
    expect(mendedLigatures(right)).to.equal(right);
  });

  it('keeps typewritten lines with their indents as code', () => {
    const words = [
      ...PROSE.map((text, i) => line(text, [50, 40 + 12 * i])),
      line('if (a) {', [50, 120], { mono: true }),
      line('b();', [60, 132], { mono: true }),
      line('}', [50, 144], { mono: true }),
    ];
    expect(markdown(pageOf(words))).to.contain('```\nif (a) {\n  b();\n}\n```');
  });

  it('leaves running headers and page numbers out, and only those', () => {
    const pages = [1, 2, 3].map((page) =>
      pageOf([
        line('Yearly Report of the Company', [50, 20]),
        ...PROSE.map((text, i) => line(`${text} ${page}`, [50, 100 + 12 * i])),
        line(`${page}`, [300, 780]),
      ]),
    );
    const texts = layoutPages(pages).map(textsOf);
    for (const text of texts) expect(text).to.contain('running text').and.not.contain('Yearly');
    expect(texts[1]).to.match(/here\. 2$/);
  });

  it('leaves the head of a table on each page, though it stands at one height of their top', () => {
    const places = [50, 300, 420];
    const pages = [1, 2, 3].map((page) =>
      pageOf(
        [
          ['Tree', 'Height', 'Rings'],
          ...[1, 2, 3, 4].map((n) => [`Alder ${page}`, `${n}0`, `${page}${n}`]),
        ].flatMap((cells, i) => cells.map((text, column) => line(text, [places[column] ?? 0, 60 + 20 * i]))),
      ),
    );
    for (const page of layoutPages(pages)) expect(textsOf(page)).to.contain('Height');
  });

  const word = fc.record({
    text: fc.constantFrom('alpha', 'beta', '12.50', '•', '1.', 'Gamma:', 'x', 'قال', '(delta)', 'DD-'),
    x: fc.integer({ min: 0, max: 560 }),
    y: fc.integer({ min: 100, max: 690 }),
    size: fc.constantFrom(6, 10, 10, 10, 24),
    bold: fc.boolean(),
  });
  const rule = fc
    .tuple(
      fc.integer({ min: 0, max: 600 }),
      fc.integer({ min: 0, max: 800 }),
      fc.integer({ min: 8, max: 400 }),
      fc.boolean(),
    )
    .map(([x, y, length, across]): Rule => (across ? [x, y, x + length, y] : [x, y, x, y + length]));

  holds(
    'loses no word and invents none, whatever lies on the page',
    fc.property(fc.array(word, { maxLength: 60 }), fc.array(rule, { maxLength: 12 }), (placed, rules) => {
      const words = placed.flatMap(({ text, x, y, size, bold }) => line(text, [x, y], { size, bold }));
      const [blocks = []] = layoutPages([pageOf([words], rules)]);
      const letters = (text: string): string =>
        Array.from(text.replace(/[^\p{L}\p{N}]/gu, ''))
          .sort()
          .join('');
      const marks = blocks
        .filter((block) => block.kind === 'list_item' && block.ordered)
        .map((block) => (block.kind === 'list_item' ? block.number : 0));
      expect(letters(textsOf(blocks) + marks.join(''))).to.equal(
        letters(placed.map(({ text }) => text).join('')),
      );
    }),
  );
});
