import { expect } from 'chai';
import { drawnPaper } from '../../adapters/pdf.ts';
import type { Paper } from '../../domain/ports/services.ts';
import { parseFile } from '../../engine/recognition/liteparse.ts';

const paperOf = (over: Partial<Paper> = {}): Paper => ({
  title: 'Statement of credits',
  number: 'S-acme-2026-11-1',
  to: ['Żółć Spółka z o.o.', 'Łódź'],
  facts: [['Account', 'acme']],
  columns: [
    { title: 'Movement', share: 3 },
    { title: 'Credits', share: 1, isAmount: true },
  ],
  rows: [{ cells: ['Purchase', '1,000'] }, { cells: ['Closing balance', '1,000'], isStrong: true }],
  notes: ['Log position 7'],
  foot: ['Quire GmbH', 'Berlin'],
  dated: '2026-11-30T23:59:59.999Z',
  ...over,
});

const pagesOf = async (paper: Paper): Promise<readonly string[]> => {
  const { pages } = await parseFile(await drawnPaper(paper), { ocrEnabled: false, quiet: true });
  return pages.map(({ text }) => text);
};

describe('a printed paper', () => {
  it('has a long table on several pages, each with the names of its columns, seller and number', async () => {
    const rows = Array.from({ length: 200 }, (_, n) => ({ cells: [`Purchase no. ${String(n)}`, String(n)] }));
    const pages = await pagesOf(paperOf({ rows }));
    expect(pages.length).to.be.greaterThan(3);
    for (const [at, text] of pages.entries()) {
      for (const said of [
        'Movement',
        'Quire GmbH',
        'S-acme-2026-11-1',
        `page ${String(at + 1)} of ${String(pages.length)}`,
      ])
        expect(text).to.include(said);
    }
    const all = pages.join('\n');
    for (let n = 0; n < 200; n += 1) expect(all).to.match(new RegExp(`Purchase no\\. ${String(n)}\\b`));
    expect(pages.at(-1)).to.include('Log position 7');
    expect(all.split('Log position 7')).to.have.length(2);
  });

  it('is the same file each time, and another one if a word is another', async () => {
    const [first, second] = [await drawnPaper(paperOf()), await drawnPaper(paperOf())];
    expect(Buffer.from(second).equals(first)).to.equal(true);
    const other = await drawnPaper(paperOf({ to: ['Zolc'] }));
    expect(Buffer.from(other).equals(first)).to.equal(false);
  });

  it('holds texts that fit in no place: words without an end, letters without a form, nothing at all', async () => {
    const endless = 'x'.repeat(3_000);
    const odd = '日本語 🙂 שלום \u0000\u200f\ud800';
    const pages = await pagesOf(
      paperOf({
        to: [endless.slice(0, 200), odd],
        rows: [{ cells: [endless, '1'] }, { cells: [odd, odd] }, { cells: [] }, { cells: ['after', '2'] }],
        foot: [],
        notes: [],
      }),
    );
    expect(pages.join('\n')).to.include('after');
    expect(pages.join('').replaceAll(/\s/g, '').split('x').length - 1).to.be.at.least(3_000);
  });
});
