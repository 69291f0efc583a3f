import { expect } from 'chai';
import type { Document, DocumentPage } from '../../document/document.ts';
import { markdownOf, markdownOfPage } from '../../document/markdown.ts';
import { extract } from '../../extraction/extract.ts';
import type { PageContent, PlacedWord } from '../../layout/content.ts';
import { layoutPages } from '../../layout/pages/layoutPages.ts';
import { withContinuedTables } from '../../layout/tables/continuedTables.ts';
import { line, pageOf } from '../support/drawnPages.ts';

const PLACES = [50, 200, 400] as const;
const HEADER = ['Well', 'Keeper', 'Depth'] as const;
const WELLS = ['Abbey', 'Bourne', 'Castle', 'Down', 'Elm', 'Ford', 'Glebe', 'Hythe'];

type Texts = readonly string[];

const row = (texts: Texts, y: number): readonly (readonly PlacedWord[])[] =>
  texts.flatMap((text, i) => (text === '' ? [] : [line(text, [PLACES[i] ?? 0, y])]));

/** A page whose rows stand below each other from a height on. */
const paper = (rows: readonly Texts[], top: number): PageContent =>
  pageOf(rows.flatMap((texts, i) => row(texts, top + 24 * i)));

const wells = (from: number, to: number): readonly Texts[] =>
  WELLS.slice(from, to).map((name, i) => [name, 'Ada Low', String(10 + from + i)]);

function documentOf(pages: readonly PageContent[], numbers: readonly number[] = [1, 2, 3]): Document {
  const blocks = layoutPages(pages);
  const all = pages.map(({ width, height }, i): DocumentPage => {
    const known = { page: numbers[i] ?? 0, width, height, lines: [], blocks: blocks[i] ?? [] };
    return { ...known, status: 'ok', source: 'text_layer', detail: null };
  });
  return { mimeType: 'application/pdf', pages: withContinuedTables(all), warnings: [] };
}

const pipe = (...texts: Texts): string => `| ${texts.join(' | ')} |`;
const pipes = (rows: readonly Texts[]): string => rows.map((texts) => pipe(...texts)).join('\n');
const RULE = pipe('---', '---', '---');

const marksIn = ({ pages }: Document): readonly (string | undefined)[] =>
  pages.flatMap(({ blocks }) => blocks.flatMap((block) => (block.kind === 'table' ? [block.continues] : [])));

describe('tables over pages', () => {
  const first = paper([HEADER, ...wells(0, 4)], 640);
  const whole = `${pipe(...HEADER)}\n${RULE}\n${pipes(wells(0, 8))}`;

  it('are one in the markdown, where they begin, with their header once', () => {
    const document = documentOf([first, paper([HEADER, ...wells(4, 8)], 60)]);
    expect(markdownOf(document)).to.equal(`<!-- page 1 -->\n\n${whole}\n\n<!-- page 2 -->\n`);
    expect(marksIn(document)).to.deep.equal([undefined, 'table']);
  });

  it('go on without their header, where numbers stand under numbers', () => {
    const document = documentOf([first, paper(wells(4, 8), 60)]);
    expect(markdownOf(document)).to.contain(whole);
  });

  it('stay as they are in the markdown of each page', () => {
    const { pages } = documentOf([first, paper([HEADER, ...wells(4, 8)], 60)]);
    expect(pages.map((page) => markdownOfPage(page))).to.deep.equal([
      `${pipe(...HEADER)}\n${RULE}\n${pipes(wells(0, 4))}\n`,
      `${pipe(...HEADER)}\n${RULE}\n${pipes(wells(4, 8))}\n`,
    ]);
  });

  it('have rows whole that the end of the page cuts in two', () => {
    const cut = ['Down', 'Bo Renn', '13'];
    const document = documentOf([
      paper([HEADER, ...wells(0, 3), cut], 640),
      paper([HEADER, ['', 'and her sons', ''], ...wells(4, 8)], 60),
    ]);
    const rows = [...wells(0, 3), ['Down', 'Bo Renn and her sons', '13'], ...wells(4, 8)];
    expect(markdownOf(document)).to.contain(`${RULE}\n${pipes(rows)}`);
    expect(marksIn(document)).to.deep.equal([undefined, 'row']);
    const well = { well: { type: 'string' }, keeper: { type: 'string' }, depth: { type: 'integer' } };
    const schema = { type: 'array', items: { type: 'object', properties: well } };
    const { value, citations } = extract(document, { type: 'object', properties: { wells: schema } });
    const keepers = (value['wells'] as { readonly keeper: string }[]).map(({ keeper }) => keeper);
    expect(keepers).to.deep.equal(rows.map(([, keeper]) => keeper));
    expect(citations.find(({ path }) => path === '/wells/3/keeper')?.page).to.equal(1);
    expect(citations.find(({ path }) => path === '/wells/4/well')?.page).to.equal(2);
  });

  it('run over more than two pages', () => {
    const document = documentOf([
      paper([HEADER, ...wells(0, 3)], 640),
      paper([HEADER, ...wells(3, 6), ...wells(0, 6), ...wells(0, 6), ...wells(0, 6), ...wells(0, 6)], 60),
      paper([HEADER, ...wells(6, 8)], 60),
    ]);
    expect(markdownOf(document).split(pipe(...HEADER))).to.have.length(2);
    expect(marksIn(document)).to.deep.equal([undefined, 'table', 'table']);
  });
});

describe('tables at the edges of pages', () => {
  const first = paper([HEADER, ...wells(0, 4)], 640);
  const none = [undefined, undefined];

  it('are two where another header stands over the second', () => {
    const other = paper([['Mill', 'Miller', 'Stones'], ...wells(4, 8)], 60);
    expect(marksIn(documentOf([first, other]))).to.deep.equal(none);
  });

  it('are two where a text stands between them', () => {
    const other = paper([HEADER, ...wells(4, 8)], 120);
    const titled = { ...other, words: [...line('Wells of the next parish', [50, 60]), ...other.words] };
    expect(marksIn(documentOf([first, titled]))).to.deep.equal(none);
  });

  it('are two where the first ends high on its page', () => {
    const high = paper([HEADER, ...wells(0, 4)], 60);
    expect(marksIn(documentOf([high, paper([HEADER, ...wells(4, 8)], 60)]))).to.deep.equal(none);
  });

  it('are two where pages between them were not read', () => {
    const document = documentOf([first, paper([HEADER, ...wells(4, 8)], 60)], [1, 5]);
    expect(marksIn(document)).to.deep.equal(none);
  });

  it('are two where their columns stand elsewhere', () => {
    const words = wells(4, 8).flatMap(([a = '', b = '', c = ''], i) => [
      line(a, [50, 60 + 24 * i]),
      line(b, [330, 60 + 24 * i]),
      line(c, [520, 60 + 24 * i]),
    ]);
    expect(marksIn(documentOf([first, pageOf(words)]))).to.deep.equal(none);
  });
});
