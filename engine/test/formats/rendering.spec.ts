import { expect } from 'chai';
import fc from 'fast-check';
import { markdownDocument } from '../../formats/text/markdownDocument.ts';
import { textDocument } from '../../formats/text/textDocument.ts';
import {
  tableOf,
  type Block,
  type Document,
  type DocumentPage,
  type TableCell,
} from '../../document/document.ts';
import { modelTextOf, markdownOf } from '../../document/markdown.ts';
import { charactersIn, pagesOf } from '../../document/pages.ts';
import { plainTextOf } from '../../document/plainText.ts';

const page = (number: number, blocks: readonly Block[]): DocumentPage => ({
  page: number,
  status: 'ok',
  source: 'markup',
  detail: null,
  width: null,
  height: null,
  lines: [],
  blocks,
});
const document = (...pages: readonly (readonly Block[])[]): Document => ({
  mimeType: 'text/plain',
  pages: pages.map((blocks, i) => page(i + 1, blocks)),
  warnings: [],
});
const paragraph = (text: string): Block => ({ kind: 'paragraph', text, markdown: text, box: null });
const rendered = (markdown: string): string => markdownOf(markdownDocument(markdown));

describe('the page rule', () => {
  it('bills the pages of a PDF', () => {
    expect(pagesOf({ by: 'pages', pages: 7 })).to.equal(7);
  });

  it('bills one page per started 3,000 characters, at least one', () => {
    const pages = [0, 1, 3000, 3001, 6000, 6001].map((characters) =>
      pagesOf({ by: 'characters', characters }),
    );
    expect(pages).to.deep.equal([1, 1, 1, 2, 2, 3]);
  });

  it('counts code points', () => {
    expect(charactersIn('a😀é')).to.equal(3);
  });
});

describe('markdown', () => {
  it('marks pages only when there are several', () => {
    expect(markdownOf(document([paragraph('a')]))).to.equal('a\n');
    expect(markdownOf(document([paragraph('a')], [], [paragraph('c')]))).to.equal(
      '<!-- page 1 -->\n\na\n\n<!-- page 2 -->\n\n<!-- page 3 -->\n\nc\n',
    );
  });

  it('repeats spans in each cell and escapes pipes', () => {
    const table: Block = {
      kind: 'table',
      rows: 2,
      columns: 3,
      headerRows: 1,
      box: null,
      cells: [
        { text: 'a|b', box: null, row: 0, column: 0, rowSpan: 1, columnSpan: 2 },
        { text: 'c', box: null, row: 0, column: 2, rowSpan: 2, columnSpan: 1 },
        { text: 'd\ne', box: null, row: 1, column: 0, rowSpan: 1, columnSpan: 1 },
      ],
    };
    expect(markdownOf(document([table]))).to.equal(
      '| a\\|b | a\\|b | c |\n| --- | --- | --- |\n| d e |  | c |\n',
    );
    expect(plainTextOf(document([table]))).to.equal('a|b\ta|b\tc\nd e\t\tc\n');
  });

  it('fences code longer than any run of backticks in it', () => {
    const code: Block = { kind: 'code', language: 'js', text: 'a\n```\nb', box: null };
    expect(markdownOf(document([code]))).to.equal('````js\na\n```\nb\n````\n');
  });

  it('keeps headings, lists, tables, code and links of Markdown', () => {
    const markdown =
      '# Title\n\nText with **bold** and [a link](https://example.org/a_(b)).\n\n- one\n- ' +
      'two\n    - deep\n\nThen:\n\n1. first\n2. second\n\n| A | B |\n| --- | --- |\n| 1 | 2 |' +
      '\n\n```sh\nls <dir>\n```\n';
    expect(rendered(markdown)).to.equal(markdown);
  });

  it('reads setext headings and reference links', () => {
    expect(rendered('Title\n=====\n\nSee [docs][d].\n\n[d]: https://example.org/x "T"\n')).to.equal(
      '# Title\n\nSee [docs](https://example.org/x).\n',
    );
  });

  it('drops links that are not http, https or mailto', () => {
    expect(rendered('[a](javascript:alert(1)) [b](HTTPS://x.org) [c](mailto:a@b.org) ![d](data:x)')).to.equal(
      'a [b](HTTPS://x.org) [c](mailto:a@b.org) d\n',
    );
  });

  it('has no raw HTML', () => {
    const html = 'a <b onclick="x()">bold</b> <script>evil()</script><!-- note -->\n\n<div>\n\ntext</div>';
    expect(rendered(html)).to.equal('a bold\n\ntext\n');
  });

  it('escapes plain text so that it stays text', () => {
    const text = '# no heading\n* no list\n1. no list\n<b>no tag</b>\n| no | table |\n[x](javascript:y)';
    const markdown = markdownOf(textDocument(text));
    expect(markdown).to.equal(
      '\\# no heading\n\\* no list\n1\\. no list\n\\<b>no tag\\</b>\n\\| no | table |\n[x\\](javascript:y)\n',
    );
    expect(plainTextOf(textDocument(text))).to.equal(`${text}\n`);
  });

  it('parts the pages of plain text by form feeds', () => {
    expect(plainTextOf(document([paragraph('a')], [paragraph('b')]))).to.equal('a\fb\n');
  });

  it('promotes the first row of a table without a header', () => {
    expect(markdownOf(document([tableOf([['1', '2'], ['3']], 0)]))).to.equal(
      '| 1 | 2 |\n| --- | --- |\n| 3 |  |\n',
    );
  });
});

/** Text with many characters that mean something in markdown and HTML. */
const wild = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '<',
        '>',
        '<b>',
        '</p>',
        '<!--',
        '-->',
        '<!',
        '<?',
        '`',
        '``',
        '\\',
        '[',
        ']',
        '](',
        '(',
        ')',
        '![',
      ),
      fc.constantFrom(
        'javascript:',
        'https://a.b',
        'mailto:a@b.c',
        '\n',
        '\n\n',
        '\r\n',
        '|',
        '#',
        '* ',
        '&lt;',
        '\u0000',
        ' ',
      ),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

/** The markdown without code, page markers and what is escaped. */
const bare = (markdown: string): string =>
  markdown
    .replace(/<!-- page \d+ -->/g, '')
    .replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, '')
    .replace(/\\[\\`]/g, '.')
    .replace(/(`+)(?!`)([\s\S]*?[^`])\1(?!`)/g, '')
    .replace(/\\./g, '.');

describe('any text, rendered', () => {
  for (const [name, parse] of [
    ['plain text', textDocument],
    ['Markdown', markdownDocument],
  ] as const)
    it(`has no raw HTML and no unsafe link, is normal and the same each time (${name})`, () => {
      fc.assert(
        fc.property(wild, (text) => {
          const markdown = markdownOf(parse(text.normalize('NFC')));
          expect(bare(markdown)).not.to.match(/<[A-Za-z/!?]/);
          expect(bare(markdown)).not.to.match(/\]\((?!https?:\/\/|mailto:)/i);
          expect(markdown).to.equal(markdown.normalize('NFC'));
          expect(markdown).to.match(/[^\n]\n$|^\n$/);
          expect(markdown).not.to.match(/[\r\u0000]/);
          expect(markdownOf(parse(text.normalize('NFC')))).to.equal(markdown);
        }),
        { numRuns: 500, seed: 20311017 },
      );
    });
});

describe('the text that models are shown', () => {
  const cell = ([row, column]: readonly [number, number], text: string, columnSpan = 1): TableCell => ({
    row,
    column,
    text,
    columnSpan,
    rowSpan: 1,
    box: null,
  });
  const shown = (cells: readonly TableCell[]): Document => ({
    mimeType: 'text/html',
    warnings: [],
    pages: [page(1, [{ kind: 'table', rows: 2, columns: 2, headerRows: 1, cells, box: null }])],
  });

  it('has merged cells once, with their spans', () => {
    expect(modelTextOf(shown([cell([0, 0], 'Both <b>', 2), cell([1, 0], 'a'), cell([1, 1], 'b')]))).to.equal(
      '<table>\n<tr><th colspan="2">Both &lt;b&gt;</th></tr>\n<tr><td>a</td><td>b</td></tr>\n</table>\n',
    );
  });

  it('has an empty cell where the table has none', () => {
    const tall = { ...cell([0, 0], 'tall'), rowSpan: 2 };
    expect(modelTextOf(shown([tall]))).to.contain(
      '<tr><th rowspan="2">tall</th><th></th></tr>\n<tr><td></td></tr>',
    );
  });

  it('is the markdown where no cell is merged', () => {
    const plain = shown([cell([0, 0], 'A'), cell([0, 1], 'B'), cell([1, 0], 'a'), cell([1, 1], 'b')]);
    expect(modelTextOf(plain)).to.equal(markdownOf(plain));
  });
});
