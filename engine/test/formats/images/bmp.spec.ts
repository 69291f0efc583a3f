import { expect } from 'chai';
import sharp from 'sharp';
import { imageOf, openImage } from '../../../formats/images/openImage.ts';
import { bmpOf, type BmpOptions, type Pixels } from '../../support/bmps.ts';

const WIDTH = 37;
const HEIGHT = 11;
/** Multiples of 8 and 4: 16 bits keep them, but for the lowest bits that a reader fills in. */
const COLOURS = [
  [248, 252, 248],
  [0, 0, 0],
  [200, 16, 48],
  [24, 96, 240],
] as const;

const pictureOf = (colours: number): Pixels =>
  Array.from({ length: HEIGHT }, (_, y) =>
    Array.from({ length: WIDTH }, (__, x) => COLOURS[(x * 7 + y * 3 + (x >> 3)) % colours] ?? COLOURS[0]),
  );

const KINDS: Readonly<Record<string, BmpOptions>> = {
  '1-bit': { depth: 1 },
  '1-bit of OS/2': { depth: 1, core: true },
  '1-bit, top-down': { depth: 1, topDown: true },
  '4-bit': { depth: 4 },
  '4-bit in runs': { depth: 4, packing: 'rle' },
  '8-bit': { depth: 8 },
  '8-bit of OS/2': { depth: 8, core: true },
  '8-bit in runs': { depth: 8, packing: 'rle' },
  '8-bit, top-down': { depth: 8, topDown: true },
  '16-bit': { depth: 16 },
  '16-bit by bit fields': { depth: 16, packing: 'bit_fields' },
  '24-bit': { depth: 24 },
  '24-bit, top-down': { depth: 24, topDown: true },
  '24-bit of OS/2': { depth: 24, core: true },
  '32-bit': { depth: 32 },
  '32-bit, top-down': { depth: 32, topDown: true },
  '32-bit by bit fields': { depth: 32, packing: 'bit_fields' },
};

describe('BMP', () => {
  for (const [name, options] of Object.entries(KINDS))
    it(`reads ${name} to the pixel`, async () => {
      const pixels = pictureOf(options.depth === 1 ? 2 : 4);
      const bytes = bmpOf(pixels, options);
      const image = imageOf(bytes, { format: 'bmp', limit: 1_000_000 });
      const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
      expect([info.width, info.height, info.channels]).to.deep.equal([WIDTH, HEIGHT, 3]);
      const off = pixels.flat(2).map((value, at) => Math.abs(value - (data[at] ?? 0)));
      expect(Math.max(...off)).to.be.at.most(options.depth === 16 ? 8 : 0);
    });

  it('refuses one that is cut off in its header, and one larger than pictures may be', async () => {
    const bytes = bmpOf(pictureOf(2), { depth: 24 });
    const open = (file: Buffer) =>
      openImage('bmp')({
        bytes: file,
        fileName: 'a.bmp',
        effort: 'fast',
        pagesMax: 1,
        depth: 0,
        languages: ['eng'],
        text: undefined,
        openPart: () => Promise.reject(new Error('a picture has no parts')),
      });
    expect((await open(bytes.subarray(0, 20))).kind).to.equal('unreadable');
    const huge = Buffer.from(bytes);
    huge.writeInt32LE(60_000, 18);
    huge.writeInt32LE(-60_000, 22);
    expect(await open(huge))
      .to.have.property('detail')
      .that.matches(/at most 100 million/);
  });

  it('is shown to a model as it is', async () => {
    const bytes = bmpOf(pictureOf(2), { depth: 1 });
    const jpeg = await imageOf(bytes, { format: 'bmp', limit: 1_000_000 }).jpeg().toBuffer();
    expect((await sharp(jpeg).metadata()).width).to.equal(WIDTH);
  });
});
