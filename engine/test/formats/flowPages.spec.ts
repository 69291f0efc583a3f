import { expect } from 'chai';
import fc from 'fast-check';
import type { Block, Document, DocumentPage } from '../../document/document.ts';
import { tableOf } from '../../document/document.ts';
import { escapeText, inlineText } from '../../document/inline.ts';
import { linesOfBlock } from '../../document/markupLines.ts';
import { markdownOf, markdownOfPage } from '../../document/markdown.ts';
import { charactersIn } from '../../document/pages.ts';
import { readThrough } from '../../document/wholeBlocks.ts';
import { extract } from '../../extraction/extract.ts';
import { flowDocument, markupPage } from '../../formats/pieces/flow.ts';
import { inspectFile, openFile, readFileAsDocument } from '../../formats/readDocument.ts';
import { textDocument } from '../../formats/text/textDocument.ts';
import type { ReceivedFile } from '../../isolation/children/jobs.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { epub } from '../support/bookFiles.ts';
import { docx, odt, p } from '../support/officeFiles.ts';
import { msg } from '../support/outlookFiles.ts';
import { holds } from '../support/properties.ts';

/** A page ends at most a tenth before its share is full: so much more may stand on the next one. */
const PAGE_MAX = 3300;

const file = (fileName: string, bytes: Buffer, pages?: string): ReceivedFile => ({
  bytes,
  fileName,
  effort: 'fast',
  pagesMax: 2000,
  languages: [],
  ...(pages !== undefined && { pages }),
});

async function documentOf(sent: ReceivedFile): Promise<Document> {
  const read = await readFileAsDocument(sent);
  if (read.kind !== 'ok') throw new Error(JSON.stringify(read));
  return read.document;
}

const linesOf = ({ lines }: DocumentPage): readonly string[] => lines.map(({ text }) => text);
const signs = (text: string): string => text.replace(/\s/g, '');
const charactersOn = (page: DocumentPage): number =>
  linesOf(page).reduce((sum, text) => sum + charactersIn(text) + 1, 0);

/** Markdown without the marks between pages; items of a list are apart where a page ends between them. */
const unmarked = (markdown: string): string =>
  markdown
    .replace(/^<!-- page \d+ -->\n\n/, '')
    .replace(/\n\n<!-- page \d+ -->(?=\n)/g, '')
    .replace(/ ?<!-- page \d+ -->/g, '')
    .replace(/\n\n(?=\s*(?:-|\d+\.) )/g, '\n');

/** Each format from paragraphs, whose lines are parted by line feeds. */
const FORMATS: Readonly<Record<string, (paragraphs: readonly string[]) => Buffer>> = {
  'a.txt': (all) => Buffer.from(all.join('\n\n')),
  'a.md': (all) => Buffer.from(all.join('\n\n')),
  'a.json': (all) => Buffer.from(JSON.stringify({ all })),
  'a.xml': (all) =>
    Buffer.from(`<?xml version="1.0"?>\n<a>${all.map((one) => `<b>${one}</b>`).join('\n')}</a>`),
  'a.html': (all) => Buffer.from(`<html><body>${all.map((one) => `<p>${one}</p>`).join('')}</body></html>`),
  'a.rtf': (all) => Buffer.from(`{\\rtf1\\ansi ${all.map((one) => `${rtfOf(one)}\\par\n`).join('')}}`),
  'a.eml': (all) =>
    Buffer.from(
      `From: a@b.example\r\nSubject: x\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${all.join('\r\n\r\n')}`,
    ),
  'a.msg': (all) => msg({ properties: { '0037': 'x', '1000': all.join('\r\n\r\n') } }),
  'a.docx': (all) => docx({ body: all.map((one) => p(one)).join('') }),
  'a.odt': (all) => odt({ body: all.map((one) => `<text:p>${one}</text:p>`).join('') }),
  'a.epub': (all) => epub({ 'a.xhtml': all.map((one) => `<p>${one}</p>`).join('') }),
};

const rtfOf = (text: string): string => text.replace(/[^\0-\u007e]/g, (unit) => `\\u${unit.charCodeAt(0)}?`);

const word = fc.constantFrom('word', 'Sentence.', 'שלום', '漢字', '😀', 'é', 'x'.repeat(40), '12', 'a,b');
/** Paragraphs of a few words, of thousands, and of one word that no page holds. */
const paragraphs = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.array(word, { minLength: 1, maxLength: 60, size: 'max' }).map((all) => all.join(' ')),
    },
    {
      weight: 1,
      arbitrary: fc.array(word, { minLength: 500, maxLength: 900, size: 'max' }).map((all) => all.join(' ')),
    },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 9000 }).map((length) => 'w'.repeat(length)) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 2500 }).map((length) => '👨‍👩‍👧e\u0301'.repeat(length)) },
  ),
  { minLength: 1, maxLength: 8 },
);

/** What is said of a flow of each format: counted, cut, chosen and delivered alike. */
async function expectShares(fileName: string, bytes: Buffer): Promise<void> {
  const whole = await documentOf(file(fileName, bytes));
  const counted = await inspectFile(file(fileName, bytes), openFile);
  expect(counted, fileName).to.include({ kind: 'ok', pages: whole.pages.length });
  for (const page of whole.pages) {
    expect(page.status, `${fileName}, page ${page.page}`).to.equal('ok');
    expect(charactersOn(page), `${fileName}, page ${page.page}`).to.be.at.most(PAGE_MAX);
    expect(signs(markdownOfPage(page)), `${fileName}, page ${page.page}`).not.to.equal('');
  }
  for (const page of new Set([whole.pages[0], whole.pages[1], whole.pages.at(-1)])) {
    if (page === undefined) continue;
    const alone = await documentOf(file(fileName, bytes, String(page.page)));
    expect(alone.pages, fileName).to.deep.equal([page]);
  }
}

describe('pages of flowing formats', () => {
  holds(
    'hold what is billed: all of them together are the whole, and none has more than its share',
    fc.asyncProperty(paragraphs, async (texts) => {
      for (const [fileName, bytesOf] of Object.entries(FORMATS)) {
        const bytes = bytesOf(texts);
        await expectShares(fileName, bytes);
        const { pages } = await documentOf(file(fileName, bytes));
        const text = signs(pages.flatMap(linesOf).join('')).normalize('NFC');
        expect(text, fileName).to.contain(signs(texts[0] ?? '').normalize('NFC'));
        if (fileName === 'a.xml')
          for (const one of texts) expect(text, fileName).to.contain(signs(one).normalize('NFC'));
        if (fileName !== 'a.json') continue;
        expect(text, fileName).to.equal(signs(bytes.toString()).normalize('NFC'));
      }
    }),
    0.005,
  );

  it('end at a line, a sentence or a word, in this order', () => {
    const line = `${'word '.repeat(15)}end.`;
    const [lines] = textDocument(Array.from({ length: 100 }, () => line).join('\n')).pages;
    expect(lines?.lines.at(-1)?.text).to.equal(line);
    const [sentences] = textDocument('One two three four. '.repeat(400)).pages;
    expect(sentences?.lines.at(-1)?.text).to.match(/four\. $/);
    const [words] = textDocument('seven '.repeat(1000)).pages;
    expect(words?.lines.at(-1)?.text).to.match(/seven $/);
  });

  it('part no sign: neither an emoji nor a letter and its accent', () => {
    for (const sign of ['😀', '👨‍👩‍👧', 'e\u0301\u0323', '🇩🇪']) {
      const { pages } = textDocument(`a${sign.repeat(5000)}`);
      expect(pages.length).to.be.greaterThan(1);
      for (const { lines } of pages.slice(0, -1))
        expect(lines.at(-1)?.text.replace(/^a/, '').split(sign).join('')).to.equal('');
    }
  });

  it('are as many as there are started 3,000 characters, with the rest on the last', () => {
    const text = 'Invoice number: A-1\n'.padEnd(3000 * 60, 'Lorem ipsum dolor sit amet.\n');
    const { pages } = textDocument(text);
    expect(pages).to.have.length(60);
    for (const page of pages) expect(charactersOn(page)).to.be.within(2900, 3100);
    expect(textDocument('x'.repeat(3001)).pages.map(charactersOn)).to.deep.equal([3001, 2]);
  });

  it('are fewer where one would have nothing on it', () => {
    expect(textDocument(`a\n${'\n'.repeat(20_000)}b`).pages).to.have.length(1);
    const { pages } = flowDocument({
      mimeType: 'text/html',
      blocks: [{ kind: 'code', language: null, text: `a${' '.repeat(20_000)}b`, box: null }],
    });
    expect(pages.map(({ status }) => status)).to.deep.equal(['ok', 'ok']);
  });

  it('end between rows of a table, whose header stands on each', async () => {
    const rows = Array.from({ length: 500 }, (_, i) => `R-${i},some words of row ${i}`);
    const bytes = Buffer.from(`number,words\n${rows.join('\n')}`);
    await expectShares('a.csv', bytes);
    const { pages } = await documentOf(file('a.csv', bytes));
    expect(pages.length).to.be.greaterThan(4);
    for (const { lines, blocks } of pages) {
      expect(lines[0]?.text).to.equal('number\twords');
      expect(blocks).to.have.length(1);
    }
    expect(
      pages.flatMap(({ lines }) => lines.slice(1)).map(({ text }) => text.replace('\t', ',')),
    ).to.deep.equal(rows);
  });

  it('end within a row that no page holds, and go on in the same cell', async () => {
    const cell = Array.from({ length: 900 }, (_, i) => `word${i}`).join(' ');
    const bytes = Buffer.from(
      `<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>${cell}</td></tr></table>`,
    );
    await expectShares('a.html', bytes);
    const { pages } = await documentOf(file('a.html', bytes));
    expect(pages.map(({ blocks: [block] }) => block?.continues)).to.deep.equal([undefined, 'cell', 'cell']);
    expect(unmarked(markdownOf(await documentOf(file('a.html', bytes))))).to.equal(
      `| a | b |\n| --- | --- |\n| 1 | ${cell} |\n`,
    );
  });

  it('are cut in time that grows with the text, whatever its shape', () => {
    for (const text of [
      'x'.repeat(2_000_000),
      'word '.repeat(400_000),
      '😀'.repeat(500_000),
      '*a* '.repeat(200_000),
    ])
      expect(textDocument(text).pages.length).to.be.greaterThan(100);
    const cell = [['a', 'word '.repeat(200_000)]];
    expect(flowDocument({ mimeType: 'text/html', blocks: [tableOf(cell, 0)] }).pages).to.have.length(334);
  });
});

const inlineOf =
  (kind: 'heading' | 'paragraph' | 'list_item') =>
  (markdown: string): Block => {
    const base = { text: inlineText(markdown), markdown, box: null };
    if (kind === 'heading') return { kind, level: 2, ...base };
    return kind === 'paragraph'
      ? { kind, ...base }
      : { kind, ordered: false, number: null, depth: 0, ...base };
  };
const part = fc.constantFrom(
  'some words ',
  '**bold words** ',
  '*slanted* ',
  '~~gone and away~~ ',
  '[a link to it](https://ex.example/a_(b)) ',
  '`code of it` ',
  '1. 2\\) ',
  'End. ',
  '- # > ',
  '<ada@ex.example> ',
  '<https://ex.example/a_b> ',
  '**a *b* c** ',
);
const inline = (most: number): fc.Arbitrary<string> =>
  fc.array(part, { minLength: 1, maxLength: most, size: 'max' }).map((parts) => parts.join('').trim());
const row = fc.tuple(fc.nat(99).map(String), inline(20).map(inlineText));
const anyBlock: fc.Arbitrary<Block> = fc.oneof(
  inline(900).map(inlineOf('paragraph')),
  fc
    .array(inline(8), { minLength: 1, maxLength: 80, size: 'max' })
    .map((lines) => inlineOf('paragraph')(lines.join('\n'))),
  inline(500).map(inlineOf('list_item')),
  inline(12).map(inlineOf('heading')),
  fc.array(inline(8), { minLength: 1, maxLength: 90, size: 'max' }).map((lines) => ({
    kind: 'code' as const,
    language: 'sh',
    text: inlineText(lines.join('\n')),
    box: null,
  })),
  fc.array(row, { minLength: 2, maxLength: 120, size: 'max' }).map((rows) => tableOf(rows, 1)),
);
const flows = fc.array(anyBlock, { minLength: 1, maxLength: 5, size: 'max' });

const onOnePage = (blocks: readonly Block[]): Document => ({
  mimeType: 'text/html',
  pages: [markupPage({ page: 1, blocks, lines: blocks.flatMap(linesOfBlock) })],
  warnings: [],
});

describe('a text that runs over pages', () => {
  holds(
    'is one in the markdown of all pages, which is that of the uncut text but for the marks in it',
    fc.property(flows, (blocks) => {
      const cut = flowDocument({ mimeType: 'text/html', blocks });
      for (const tables of ['markdown', 'html'] as const)
        expect(unmarked(markdownOf(cut, { tables }))).to.equal(
          unmarked(markdownOf(onOnePage(blocks), { tables })),
        );
      const marks = [...markdownOf(cut).matchAll(/<!-- page (\d+) -->/g)].map(([, page]) => Number(page));
      const { length } = cut.pages;
      expect(marks).to.deep.equal(length === 1 ? [] : Array.from({ length }, (_, i) => i + 1));
    }),
  );

  holds(
    'is read as one: the same lines and blocks as of the uncut text',
    fc.property(flows, (blocks) => {
      const read = readThrough(flowDocument({ mimeType: 'text/html', blocks }));
      expect(read.pages.flatMap(linesOf)).to.deep.equal(blocks.flatMap(linesOfBlock).map(({ text }) => text));
      expect(read.pages.flatMap((page) => page.blocks.map(({ kind }) => kind))).to.deep.equal(
        blocks.map(({ kind }) => kind),
      );
    }),
  );

  it('has its marks closed at the end of a page and opened on the next', () => {
    const blocks = [
      inlineOf('paragraph')(
        `**${'bold word '.repeat(400).trim()}** and [${'a label '.repeat(400).trim()}](https://ex.example)`,
      ),
    ];
    const { pages } = flowDocument({ mimeType: 'text/html', blocks });
    const [first = '', second = '', third = ''] = pages.map((page) => markdownOfPage(page));
    expect(first).to.match(/^\*\*bold word [a-z ]+\*\*\n$/);
    expect(second).to.match(
      /^\*\*(?:bold|word) [a-z ]+\*\* and \[a label [a-z ]+\]\(https:\/\/ex\.example\)\n$/,
    );
    expect(third).to.match(/^\[[a-z ]+\]\(https:\/\/ex\.example\)\n$/);
  });

  it('goes on without its bullet, and where a mark of a block would stand that is escaped', () => {
    const item = inlineOf('list_item')('one - two '.repeat(400).trim());
    const { pages } = flowDocument({ mimeType: 'text/html', blocks: [item, inlineOf('list_item')('next')] });
    expect(markdownOfPage(pages[0] as DocumentPage)).to.match(/^- one/);
    expect(markdownOfPage(pages[1] as DocumentPage)).to.match(/^(?:one|two|\\-) [\s\S]*\n\n- next\n$/);
  });

  it('is left apart where a page between is not chosen', async () => {
    const text = Array.from(
      { length: 150 },
      (_, i) => `Line ${i} of a text without any empty line in it.`,
    ).join('\n');
    const chosen = await documentOf(file('a.txt', Buffer.from(text), '1,3'));
    expect(markdownOf(chosen)).to.match(/^<!-- page 1 -->\n\nLine 0[\s\S]*\n\n<!-- page 3 -->\n\nLine \d+/);
    const next = await documentOf(file('a.txt', Buffer.from(text), '2-3'));
    expect(markdownOf(next)).to.match(/^<!-- page 2 -->\n\nLine \d+[\s\S]*\. <!-- page 3 -->\nLine \d+/);
  });
});

const PROSE = 'The parties have talked about the matters below at some length and in good faith. ';

describe('values of a text that runs over pages', () => {
  const asked: JsonObject = {
    type: 'object',
    properties: {
      invoice_number: { type: 'string' },
      total: { type: 'number' },
      rows: {
        type: 'array',
        items: { type: 'object', properties: { item: { type: 'string' }, price: { type: 'number' } } },
      },
    },
  };
  const pagesOf = (document: Document, path: string): readonly (number | null)[] =>
    extract(document, asked)
      .citations.filter((one) => one.path.startsWith(path))
      .map(({ page }) => page);

  it('are found wherever the page ends, and cite the page that they stand on', () => {
    for (let before = 2900; before <= 3020; before += 4) {
      const lead = PROSE.repeat(40).slice(0, before);
      const document = textDocument(
        `${lead}\nInvoice number: INV-77\nTotal: 1,234.50 EUR\n${PROSE.repeat(40)}`,
      );
      const { value, citations } = extract(document, asked);
      expect(value).to.include({ invoice_number: 'INV-77', total: 1234.5 });
      for (const { page, text } of citations) {
        const lines = document.pages.filter((one) => one.page === page).flatMap(linesOf);
        expect(lines.join('\n'), `${before}`).to.contain(text.split(' ')[0]);
      }
    }
  });

  it('cite later pages also from the cells of a table and the lines of a list', async () => {
    const rows = Array.from(
      { length: 300 },
      (_, i) => `<tr><td>Thing no ${i}</td><td>${i + 10}.50</td></tr>`,
    );
    const table = `<table><tr><th>Item</th><th>Price</th></tr>${rows.join('')}</table>`;
    const document = await documentOf(file('a.html', Buffer.from(table)));
    const { value } = extract(document, asked);
    expect(value['rows']).to.have.length(300);
    expect(pagesOf(document, '/rows/0/')).to.deep.equal([1, 1]);
    expect(pagesOf(document, '/rows/299/')).to.deep.equal([document.pages.length, document.pages.length]);
    const line = textDocument(`${PROSE.repeat(80)}\nInvoice number: INV-77\n${PROSE.repeat(10)}`);
    expect(pagesOf(line, '/invoice_number')).to.deep.equal([3]);
  });
});

describe('markdown of plain text', () => {
  it('is escaped on each page as it is in the whole', () => {
    const text = '1. * _ - # a [b](c) '.repeat(800);
    const document = textDocument(text);
    expect(unmarked(markdownOf(document)).trim()).to.equal(escapeText(text).trim());
  });
});
