import { expect } from 'chai';
import { openDocumentWorkers, type DocumentWorkers } from '../../isolation/documentWorkers.ts';
import { busyPdf } from '../support/pdfs.ts';
import { tempFolder, type TempFolder } from '../support/tempFolder.ts';

const DEADLINE_MS = 12_000;

const SCHEMA = { type: 'object', properties: { order_number: { type: 'string' } } } as const;

describe('a PDF with a page that has no end', () => {
  let workers: DocumentWorkers;
  let folder: TempFolder;
  before(() => {
    workers = openDocumentWorkers({ processes: 2 });
    folder = tempFolder();
  });
  after(async () => {
    await workers.close();
    folder.remove();
  });

  const requestOf = (texts: readonly (string | undefined)[]) => ({
    ...{ path: folder.file('busy.pdf', busyPdf(texts)), fileName: 'busy.pdf', pagesMax: 100 },
    ...({ effort: 'fast', deadlineMs: DEADLINE_MS, share: 't' } as const),
  });
  const late = (pages: readonly number[]) => ({ code: 'deadline_reached', pages });

  it('has the other pages, and says which one was not read', async () => {
    const rendered = await workers.parser.render(requestOf(['First page', undefined, 'Last page']));
    if (rendered.kind !== 'ok') throw new Error(rendered.kind);
    const { plainText, pages, warnings } = rendered.rendition;
    expect(plainText).to.equal('First page\f\fLast page\n');
    expect(pages.map(({ page, status }) => [page, status])).to.deep.equal([
      [1, 'ok'],
      [2, 'skipped'],
      [3, 'ok'],
    ]);
    expect(warnings).to.have.length(1);
    expect(warnings[0])
      .to.include({ code: 'deadline_reached' })
      .and.to.deep.include(late([2]));
  });

  it('has the values of the other pages', async () => {
    const request = requestOf(['Order number: A-17', undefined]);
    const extracted = await workers.localEngine.extract({ ...request, schema: SCHEMA, citations: true });
    if (extracted.kind !== 'ok') throw new Error(extracted.kind);
    expect(extracted.extraction.value).to.deep.equal({ order_number: 'A-17' });
    expect(extracted.extraction.warnings[0]).to.deep.include(late([2]));
  });

  it('is not read in time where it has no other page', async () => {
    const rendered = await workers.parser.render({ ...requestOf([undefined]), deadlineMs: 4_000 });
    expect(rendered.kind).to.equal('timed_out');
  });
});
