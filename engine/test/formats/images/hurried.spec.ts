import { expect } from 'chai';
import sharp from 'sharp';
import { readFileAsDocument } from '../../../formats/readDocument.ts';
import { pictureOf } from '../../support/pagePictures.ts';
import { drawn, LETTER, scanOf } from '../pdf/drawnLetter.ts';

/** The time is nearly used up when it is asked for the n-th time. */
const hurryAfter = (looks: number) => {
  let asked = 0;
  return {
    get isOn() {
      asked += 1;
      return asked > looks;
    },
  };
};

const read = async (bytes: Buffer, hurry: { readonly isOn: boolean }) => {
  const wish = {
    fileName: null,
    effort: 'standard',
    languages: ['eng'],
    engines: ['tesseract'],
    pagesMax: 10,
  };
  const result = await readFileAsDocument({ ...wish, bytes, hurry } as Parameters<
    typeof readFileAsDocument
  >[0]);
  if (result.kind !== 'ok') throw new Error(result.kind);
  const { pages, warnings } = result.document;
  return {
    pages: pages.map(({ status, lines }) => [status, lines.length > 0]),
    warned: warnings.filter(({ code }) => code === 'deadline_reached').map(({ message }) => message),
  };
};

describe('a document whose time is nearly used up', () => {
  let png: Buffer;
  let pictures: Buffer;
  before(async () => {
    png = await pictureOf(drawn(LETTER));
    pictures = await sharp([png, png, png], { join: { animated: true } })
      .tiff()
      .toBuffer();
  });

  it('has the pages that were read, and says which were not', async () => {
    // A page asks before it is begun, before it is looked at closely, and before it is read again.
    const { pages, warned } = await read(pictures, hurryAfter(3));
    expect(pages).to.deep.equal([
      ['ok', true],
      ['skipped', false],
      ['skipped', false],
    ]);
    expect(warned).to.have.length(1);
    expect(warned[0]).to.contain('page 2, 3 ');
  });

  it('says which page was looked at once only', async () => {
    const { pages, warned } = await read(pictures, hurryAfter(1));
    expect(pages[0]).to.deep.equal(['ok', true]);
    expect(warned[0]).to.contain('page 1, 2, 3 ');
  });

  it('says so of a scan too', async () => {
    const { pages, warned } = await read(await scanOf(png), hurryAfter(0));
    expect(pages).to.deep.equal([['skipped', false]]);
    expect(warned[0]).to.contain('page 1 ');
  });

  it('says nothing where all was read', async () => {
    expect((await read(pictures, hurryAfter(1_000))).warned).to.deep.equal([]);
  });
});
