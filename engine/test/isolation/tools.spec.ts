import { expect } from 'chai';
import sharp from 'sharp';
import { openDocumentWorkers, type DocumentWorkers } from '../../isolation/documentWorkers.ts';
import type { Document, PackedDocument, Word } from '../../document/document.ts';
import type { ParseRequest } from '../../ports/documentParser.ts';
import type { PageReading, PicturesResult } from '../../ports/documentTools.ts';
import { unpacked } from '../../ports/packing.ts';
import { plainPdf } from '../support/pdfs.ts';
import { tempFolder, type TempFolder } from '../support/tempFolder.ts';
import { documentFrom, INVOICE, LIMITS, read } from './modelReadings.ts';

const word = (text: string, x: number, y: number): Word => ({
  text,
  box: [x, y, x + text.length * 5, y + 10],
  confidence: 0.9,
  fontSize: null,
  bold: false,
});

describe('the tools of model work', () => {
  let workers: DocumentWorkers;
  let folder: TempFolder;
  before(() => {
    workers = openDocumentWorkers({ processes: 1 });
    folder = tempFolder();
  });
  after(async () => {
    await workers.close();
    folder.remove();
  });

  const documentOf = (...pages: readonly PageReading[]): Promise<PackedDocument> =>
    documentFrom(workers.tools, pages);
  const opened = async (...pages: readonly PageReading[]): Promise<Document> =>
    unpacked((await documentOf(...pages)).packed);
  const markdownOf = async (document: PackedDocument): Promise<string> => {
    const result = await workers.tools.render(document, LIMITS);
    if (result.kind !== 'ok') throw new Error(result.kind);
    return result.rendition.markdown;
  };

  describe('a document of what a model read', () => {
    it('has the blocks of the markdown, page by page, and says that a model read it', async () => {
      const document = await documentOf(read(2, 'Second page'), read(1, INVOICE));
      expect(document.pages.map(({ page, source, status }) => [page, source, status])).to.deep.equal([
        [1, 'model', 'ok'],
        [2, 'model', 'ok'],
      ]);
      expect(unpacked(document.packed).pages[0]?.blocks.map(({ kind }) => kind)).to.deep.equal([
        'heading',
        'paragraph',
        'table',
      ]);
      expect(document.warnings).to.deep.equal([]);
      expect(await markdownOf(document)).to.equal(
        '<!-- page 1 -->\n\n# Invoice LF-7\n\nTotal: 1.234,50 EUR\n\n| Item | Price |\n| --- | ' +
          '--- |\n| Lens | 12,00 |\n\n<!-- page 2 -->\n\nSecond page\n',
      );
    });

    it('keeps numbers and reasons of pages that failed or are empty, and warns', async () => {
      const document = await documentOf(
        { status: 'failed', number: 2, detail: 'The provider did not read it.' },
        { status: 'empty', number: 3, detail: 'The page is blank.' },
        read(1, 'Text'),
        read(4, '  \n'),
      );
      expect(document.pages.map(({ status, detail }) => [status, detail])).to.deep.equal([
        ['ok', null],
        ['failed', 'The provider did not read it.'],
        ['empty', 'The page is blank.'],
        ['empty', 'The page is blank.'],
      ]);
      expect(document.warnings).to.deep.equal([
        { code: 'page_failed', message: 'Page 2: The provider did not read it.' },
      ]);
    });

    it('warns when no page has text', async () => {
      const { warnings } = await documentOf(read(1, ''));
      expect(warnings.map(({ code }) => code)).to.deep.equal(['no_text_found']);
    });

    it('makes HTML and unsafe links harmless', async () => {
      const text =
        'See [this](javascript:alert(1)) <script>alert(2)</script> <img src=x onerror=alert(3)> now';
      const markdown = await markdownOf(await documentOf(read(1, text)));
      expect(markdown).to.not.match(/javascript:|<script|<img/);
      expect(markdown).to.match(/See this.*now/);
    });

    it('takes a fence around a whole page away, and pictures that say nothing', async () => {
      const text = '```markdown\n# Title\n\n![img-0.jpeg](img-0.jpeg)\n```';
      expect(await markdownOf(await documentOf(read(1, text)))).to.equal('# Title\n');
    });

    it('builds lines from the words where they have boxes', async () => {
      const words = [word('EUR', 100, 40), word('Total', 10, 41), word('Below', 10, 80)];
      const [page] = (await opened(read(1, 'Total EUR\n\nBelow', words))).pages;
      expect(page?.lines.map(({ text }) => text)).to.deep.equal(['Total EUR', 'Below']);
      expect(page?.lines[1]?.box).to.deep.equal([10, 80, 35, 90]);
      expect([page?.width, page?.height]).to.deep.equal([595, 842]);
    });
  });

  it('extracts from a document that was read before', async () => {
    const document = await documentOf(read(1, INVOICE));
    const schema = { type: 'object', properties: { total: { type: 'number' } } };
    const result = await workers.tools.extractFrom(
      { document, schema, settings: { citations: true } },
      LIMITS,
    );
    if (result.kind !== 'ok') throw new Error(result.kind);
    expect(result.extraction.value).to.deep.equal({ total: 1234.5 });
    expect(result.extraction.citations[0]?.page).to.equal(1);
    expect(result.extraction.pages[0]?.source).to.equal('model');
  });

  it('refuses a schema that cannot be used', async () => {
    const document = await documentOf(read(1, INVOICE));
    const schema = { type: 'object', properties: { total: { type: 'nmber' } } };
    const result = await workers.tools.extractFrom(
      { document, schema, settings: { citations: true } },
      LIMITS,
    );
    expect(result.kind).to.equal('invalid_schema');
  });

  it('gives up at its deadline', async () => {
    const result = await workers.tools.documentOf(
      { mimeType: 'application/pdf', pages: [read(1, INVOICE)] },
      { ...LIMITS, signal: AbortSignal.abort() },
    );
    expect(result.kind).to.equal('aborted');
  });

  describe('pictures of pages', () => {
    const request = (name: string, bytes: Uint8Array): ParseRequest => ({
      path: folder.file(name, bytes),
      fileName: name,
      effort: 'standard',
      pagesMax: 10,
      ...LIMITS,
    });
    const pictures = async (
      name: string,
      bytes: Uint8Array,
    ): Promise<Extract<PicturesResult, { kind: 'ok' }>> => {
      const result = await workers.tools.pictures(request(name, bytes));
      if (result.kind !== 'ok') throw new Error(result.kind);
      return result;
    };

    it('draws each page of a PDF, about 1,600 pixels long, and tells blank ones', async () => {
      const pdf = plainPdf(['Hello there', '']);
      const { pages, mimeType } = await pictures('a.pdf', pdf);
      expect(mimeType).to.equal('application/pdf');
      expect(pages.map(({ page, blank }) => [page, blank])).to.deep.equal([
        [1, false],
        [2, true],
      ]);
      const { width, format } = await sharp(pages[0]?.bytes).metadata();
      expect(format).to.equal('jpeg');
      expect(width).to.be.within(1_550, 1_600);
      const again = await pictures('a.pdf', pdf);
      expect(Buffer.from(again.pages[0]?.bytes ?? []).equals(Buffer.from(pages[0]?.bytes ?? []))).to.equal(
        true,
      );
    });

    it('turns a picture upright, flattens it on white and scales it down', async () => {
      const create = { width: 3_000, height: 1_500, channels: 4, background: '#ff000000' } as const;
      const side = await sharp({ create }).jpeg().withMetadata({ orientation: 6 }).toBuffer();
      const { pages } = await pictures('side.jpg', side);
      const { width, height, orientation } = await sharp(pages[0]?.bytes).metadata();
      expect([width, height, orientation]).to.deep.equal([800, 1_600, undefined]);
      const clear = await pictures('clear.png', await sharp({ create }).png().toBuffer());
      const { channels } = await sharp(clear.pages[0]?.bytes).stats();
      expect(channels.map(({ min }) => min)).to.deep.equal([255, 255, 255]);
      expect(clear.pages[0]?.blank).to.equal(true);
    });

    it('gives nothing for formats without pages to look at', async () => {
      expect(await pictures('a.txt', Buffer.from('Hello'))).to.deep.equal({
        kind: 'ok',
        mimeType: 'text/plain',
        pages: [],
      });
    });

    it('refuses too many pages and damaged files', async () => {
      const many = await workers.tools.pictures(
        request('many.pdf', plainPdf(Array.from({ length: 11 }, () => 'x'))),
      );
      expect(many.kind).to.equal('too_many_pages');
      const damaged = await workers.tools.pictures(request('bad.pdf', Buffer.from('%PDF-1.4 nothing')));
      expect(damaged.kind).to.equal('unreadable');
    });
  });
});
