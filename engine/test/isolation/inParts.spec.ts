import { expect } from 'chai';
import { openDocumentWorkers, type DocumentWorkers } from '../../isolation/documentWorkers.ts';
import { busyPdf } from '../support/pdfs.ts';
import { tempFolder, type TempFolder } from '../support/tempFolder.ts';

/** A quiet machine needs the first; on a busy one the other pages may take longer, and the endless one takes all. */
const DEADLINES_MS = [6_000, 12_000, 24_000, 48_000, 96_000];

/** A page without end meets the end of its time or of its memory. */
const GIVEN_UP = ['deadline_reached', 'page_failed'];

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
    path: folder.file('busy.pdf', busyPdf(texts)),
    fileName: 'busy.pdf',
    pagesMax: 100,
    effort: 'fast' as const,
    share: 't',
  });
  /** The first answer that is whole, by longer and longer deadlines. */
  const inTime = async <T>(ask: (deadlineMs: number) => Promise<T>, isWhole: (answer: T) => boolean) => {
    for (const deadlineMs of DEADLINES_MS) {
      const answer = await ask(deadlineMs);
      if (isWhole(answer) || deadlineMs === DEADLINES_MS.at(-1)) return answer;
    }
    throw new Error('there is a last deadline');
  };

  it('has the other pages, and says which one was not read', async () => {
    const request = requestOf(['First page', undefined, 'Last page']);
    const rendered = await inTime(
      (deadlineMs) => workers.parser.render({ ...request, deadlineMs }),
      (answer) => answer.kind === 'ok' && answer.rendition.pages[2]?.status === 'ok',
    );
    if (rendered.kind !== 'ok') throw new Error(rendered.kind);
    const { plainText, pages, warnings } = rendered.rendition;
    expect(plainText).to.equal('First page\f\fLast page\n');
    expect(pages.map(({ page, status }) => [page, status])).to.deep.equal([
      [1, 'ok'],
      [2, 'skipped'],
      [3, 'ok'],
    ]);
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.deep.include({ pages: [2] });
    expect(warnings[0]?.code).to.be.oneOf(GIVEN_UP);
  });

  it('has the values of the other pages', async () => {
    const request = requestOf(['Order number: A-17', undefined]);
    const wanted = { ...request, schema: SCHEMA, citations: true };
    const extracted = await inTime(
      (deadlineMs) => workers.localEngine.extract({ ...wanted, deadlineMs }),
      (answer) => answer.kind === 'ok' && answer.extraction.value['order_number'] !== undefined,
    );
    if (extracted.kind !== 'ok') throw new Error(extracted.kind);
    expect(extracted.extraction.value).to.deep.equal({ order_number: 'A-17' });
    expect(extracted.extraction.warnings[0]).to.deep.include({ pages: [2] });
    expect(extracted.extraction.warnings[0]?.code).to.be.oneOf(GIVEN_UP);
  });

  it('is not read in time where it has no other page', async () => {
    const request = requestOf([undefined]);
    const rendered = await inTime(
      (deadlineMs) => workers.parser.render({ ...request, deadlineMs }),
      ({ kind }) => kind !== 'starved',
    );
    expect(rendered.kind).to.be.oneOf(['timed_out', 'unreadable']);
  });
});
