import { expect } from 'chai';
import fc from 'fast-check';
import { chunkPieces } from '../../document/chunkPieces.ts';
import { type Chunk, chunksOf, type ChunkWish } from '../../document/chunks.ts';
import { type Block, type Box, type DocumentPage, tableOf } from '../../document/document.ts';

const page = (number: number, ...blocks: Block[]): DocumentPage => ({
  page: number,
  status: 'ok',
  source: 'text_layer',
  detail: null,
  width: 595,
  height: 842,
  lines: [],
  blocks,
});

const BOX: Box = [10, 20, 30, 40];
const heading = (level: 1 | 2 | 3, text: string): Block => ({
  kind: 'heading',
  level,
  text,
  markdown: text,
  box: BOX,
});
const paragraph = (text: string): Block => ({ kind: 'paragraph', text, markdown: text, box: BOX });
const rows = (count: number, from = 0): string[][] =>
  Array.from({ length: count }, (_, at) => [`Article ${String(from + at)}`, String(10 * (from + at))]);

const chunks = (pages: readonly DocumentPage[], wish: ChunkWish): readonly Chunk[] =>
  chunksOf(chunkPieces({ pages }), wish) ?? [];
const texts = (found: readonly Chunk[]): readonly string[] => found.map(({ text }) => text);

describe('chunks', () => {
  it('begin at headings, and know those above them', () => {
    const found = chunks(
      [
        page(1, heading(1, 'Terms'), heading(2, 'Delivery'), paragraph('By post.')),
        page(2, paragraph('Within a week.'), heading(2, 'Price'), paragraph('In euros.')),
      ],
      { by: 'heading' },
    );
    expect(texts(found)).to.deep.equal([
      '# Terms\n\n## Delivery\n\nBy post.\n\nWithin a week.',
      '## Price\n\nIn euros.',
    ]);
    expect(found.map(({ headingPath }) => headingPath)).to.deep.equal([
      ['Terms', 'Delivery'],
      ['Terms', 'Price'],
    ]);
    expect(found.map(({ pages }) => pages)).to.deep.equal([[1, 2], [2]]);
    expect(found[0]?.boxes[0]).to.deep.equal({ page: 1, box: BOX });
  });

  it('never cut a row from the header of its table, which they repeat', () => {
    const table = tableOf([['Article', 'Price'], ...rows(40)], 1);
    const found = chunks([page(1, heading(1, 'Prices'), table)], { by: 'heading', maxCharacters: 200 });
    expect(found.length).to.be.greaterThan(3);
    const head = '| Article | Price |\n| --- | --- |\n';
    for (const { text, headingPath } of found) {
      expect(text.replace('# Prices\n\n', '')).to.match(
        /^\| Article \| Price \|\n\| --- \| --- \|\n\| Article /,
      );
      expect(text.length).to.be.at.most(200);
      expect(headingPath).to.deep.equal(['Prices']);
    }
    const said = found.flatMap(({ text }) => text.slice(text.indexOf(head) + head.length).split('\n'));
    expect(said).to.deep.equal(rows(40).map((cells) => `| ${cells.join(' | ')} |`));
  });

  it('give the rows on the next page the header of the first, and a cut row whole', () => {
    const first = tableOf([['Article', 'Price'], ...rows(2)], 1);
    const next = { ...tableOf([['more', ''], ...rows(1, 2)], 0), continues: 'row' } as Block;
    const pages = [page(1, first), page(2, next)];
    expect(texts(chunks(pages, { by: 'size' }))).to.deep.equal([
      '| Article | Price |\n| --- | --- |\n| Article 0 | 0 |\n| Article 1 more | 10 |\n| Article 2 | 20 |',
    ]);
    const [, second] = chunks(pages, { by: 'page' });
    expect(second?.text).to.equal('| Article | Price |\n| --- | --- |\n| more |  |\n| Article 2 | 20 |');
  });

  it('have a row that is longer than a chunk may be as one', () => {
    const table = tableOf(
      [
        ['Article', 'Text'],
        ['1', 'x'.repeat(500)],
        ['2', 'y'],
      ],
      1,
    );
    const found = chunks([page(1, table)], { by: 'size', maxCharacters: 100 });
    expect(found).to.have.lengthOf(2);
    expect(found[0]?.text).to.contain('x'.repeat(500));
  });

  it('are as pages are, whole unless a size is asked for', () => {
    const long = 'A sentence of some words. '.repeat(200).trim();
    const pages = [page(1, paragraph(long)), page(3, paragraph('Short.'))];
    expect(texts(chunks(pages, { by: 'page' }))).to.deep.equal([long, 'Short.']);
    const parts = chunks(pages, { by: 'page', maxCharacters: 1000 });
    expect(parts.slice(0, -1).every(({ text }) => text.endsWith('.'))).to.equal(true);
    expect(parts.map(({ pages: on }) => on)).to.deep.equal([
      ...Array.from({ length: parts.length - 1 }, () => [1]),
      [3],
    ]);
  });

  it('begin with the end of the one before where that was full', () => {
    const sentences = Array.from({ length: 40 }, (_, at) => `This is sentence ${String(at)}.`);
    const found = chunks([page(1, ...sentences.map(paragraph))], {
      by: 'size',
      maxCharacters: 200,
      overlap: 60,
    });
    for (const [at, { text }] of found.entries()) {
      expect(text.length).to.be.at.most(200);
      const before = found[at - 1]?.text.split('\n\n').at(-1);
      if (before !== undefined) expect(text.split('\n\n')).to.include(before);
    }
  });

  it('keep code within its fences', () => {
    const code: Block = {
      kind: 'code',
      language: 'ts',
      text: Array.from({ length: 30 }, (_, at) => `const value${String(at)} = 1;`).join('\n'),
      box: null,
    };
    const found = chunks([page(1, code)], { by: 'size', maxCharacters: 150 });
    for (const { text, boxes } of found) {
      expect(text).to.match(/^```ts\n(?:const value\d+ = 1;\n)+```$/);
      expect(boxes).to.deep.equal([]);
    }
  });

  it('stop where small ones repeat a long header too often', () => {
    const table = tableOf([['x'.repeat(5_000), 'n'], ...rows(1_000)], 1);
    expect(
      chunksOf(chunkPieces({ pages: [page(1, table)] }), { by: 'size', maxCharacters: 100 }, 1_000_000),
    ).to.equal(undefined);
  });
});

const word = fc.stringMatching(/^[a-zäß😀0-9]{1,12}$/u);
const prose = fc.array(word, { minLength: 1, maxLength: 60 }).map((words) => words.join(' '));
const anyBlock: fc.Arbitrary<Block> = fc.oneof(
  prose.map(paragraph),
  fc.tuple(fc.constantFrom(1, 2, 3), word).map(([level, text]) => heading(level, text)),
  fc.array(fc.tuple(word, word), { minLength: 2, maxLength: 20 }).map((cells) => tableOf(cells, 1)),
);
const anyPages = fc
  .array(fc.array(anyBlock, { maxLength: 8 }), { minLength: 1, maxLength: 5 })
  .map((pages) => pages.map((blocks, at) => page(at + 1, ...blocks)));
const anyWish: fc.Arbitrary<ChunkWish> = fc.record({
  by: fc.constantFrom('heading', 'page', 'size'),
  maxCharacters: fc.integer({ min: 100, max: 800 }),
});

const wordsIn = (text: string): readonly string[] => text.match(/[a-zäß😀0-9]+/gu) ?? [];

/** The text of the header of a table, for rows repeat it. */
const wordsOf = (pages: readonly DocumentPage[]): readonly string[] =>
  pages.flatMap(({ blocks }) =>
    blocks.flatMap((block) =>
      block.kind === 'table'
        ? block.cells.flatMap(({ text, row }) => (row === 0 ? [] : [text]))
        : wordsIn(block.text),
    ),
  );

describe('chunks of any document', () => {
  it('have all of its text, in order', () => {
    fc.assert(
      fc.property(anyPages, anyWish, (pages, wish) => {
        const said = chunks(pages, wish).flatMap(({ text }) =>
          wordsIn(text.replace(/^\|.*\|\n\| ---.*$/gm, '')),
        );
        expect(said).to.deep.equal(wordsOf(pages));
      }),
    );
  });

  it('are no longer than asked for, but for one row with its header', () => {
    fc.assert(
      fc.property(anyPages, anyWish, fc.integer({ min: 0, max: 50 }), (pages, wish, overlap) => {
        for (const { text } of chunks(pages, { ...wish, overlap })) {
          const isOneRow = /^(?:\|.*\|\n?){3}$/.test(text);
          expect(isOneRow || text.length <= (wish.maxCharacters ?? 0), text).to.equal(true);
        }
      }),
    );
  });

  it('are the same in every run, with IDs of their own', () => {
    fc.assert(
      fc.property(anyPages, anyWish, (pages, wish) => {
        const one = chunks(pages, wish);
        expect(JSON.stringify(chunks(structuredClone(pages), wish))).to.equal(JSON.stringify(one));
        expect(new Set(one.map(({ id }) => id)).size).to.equal(one.length);
      }),
    );
  });
});
