import { expect } from 'chai';
import sharp from 'sharp';
import { drawnRules } from '../../recognition/drawnRules.ts';
import { recognitionOf } from '../../recognition/engines.ts';
import { greyImage } from '../../recognition/greyImage.ts';
import { marksBeside } from '../../recognition/marks.ts';
import { readStrip } from '../../recognition/ppocr/readStrip.ts';
import { recogniseImage } from '../../recognition/recogniseImage.ts';
import { pictureOf } from '../support/pagePictures.ts';
import { drawnPdf } from '../support/pdfs.ts';

const WIDTH = 400;
const HEIGHT = 200;

type Rectangle = readonly [x0: number, y0: number, x1: number, y1: number];

/** White with rectangles of one grey. */
const paper = (rectangles: readonly Rectangle[], grey = 20) => {
  const data = new Uint8Array(WIDTH * HEIGHT).fill(250);
  for (const [x0, y0, x1, y1] of rectangles)
    for (let y = y0; y < y1; y += 1) data.fill(grey, y * WIDTH + x0, y * WIDTH + x1);
  return { data, width: WIDTH, height: HEIGHT };
};

describe('hairlines that a scanner made grey', () => {
  it('are rules', () => {
    const rules = drawnRules(
      paper(
        [
          [20, 50, 380, 51],
          [200, 20, 201, 180],
        ],
        190,
      ),
    );
    expect(rules).to.deep.equal([
      [20, 50, 380, 50],
      [200, 20, 200, 180],
    ]);
  });

  it('are told from the edges of what is shaded, and from dust', () => {
    expect(drawnRules(paper([[20, 50, 380, 90]], 190))).to.deep.equal([]);
    expect(drawnRules(paper([[20, 50, 380, 51]], 235))).to.deep.equal([]);
  });
});

describe('marks beside words', () => {
  it('are of the size of letters, and digits of one number are one mark', () => {
    const one: Rectangle = [100, 50, 108, 64];
    const two: Rectangle = [112, 50, 120, 64];
    const far: Rectangle = [200, 51, 208, 65];
    const below: Rectangle = [100, 90, 108, 104];
    expect(marksBeside(paper([one, two, far, below]), [], 16)).to.have.deep.members([
      [100, 50, 120, 64],
      far,
      below,
    ]);
  });

  it('are not what words hold, nor dirt, rules and pictures', () => {
    const shapes: readonly Rectangle[] = [
      [100, 50, 108, 64],
      [150, 50, 153, 53],
      [20, 80, 380, 82],
      [200, 100, 300, 180],
    ];
    expect(marksBeside(paper(shapes), [[90, 48, 120, 66]], 16)).to.deep.equal([]);
  });

  it('are not looked for on a poster', () => {
    const [width, height] = [4001, 4000];
    const data = new Uint8Array(width * height).fill(250);
    for (let y = 50; y < 64; y += 1) data.fill(0, y * width + 100, y * width + 108);
    expect(marksBeside({ data, width, height }, [], 16)).to.deep.equal([]);
    const part = data.subarray(0, width * 3999);
    expect(marksBeside({ data: part, width, height: 3999 }, [], 16)).to.have.length(1);
  });

  it('are none on a picture full of spots', () => {
    const [width, height] = [1200, 1200];
    const data = new Uint8Array(width * height).fill(250);
    for (let y = 0; y < height; y += 8)
      for (let x = 0; x < width; x += 4)
        for (let down = 0; down < 5; down += 1)
          data.fill(0, (y + down) * width + x, (y + down) * width + x + 2);
    expect(marksBeside({ data, width, height }, [], 8)).to.deep.equal([]);
  });
});

describe('a strip whose characters are known', () => {
  it('is read as the likeliest of them', async () => {
    const characters = ['', 'O', '0', 'x'];
    const step = (values: readonly number[]): readonly number[] => values;
    const read = () =>
      Promise.resolve({
        data: Float32Array.from([...step([0.1, 0.6, 0.3, 0]), ...step([0.9, 0.05, 0.05, 0])]),
        shape: [1, 2, 4],
      });
    const strip = { grey: new Uint8Array(160 * 48), width: 160 };
    const [free] = await readStrip({ read, characters }, strip);
    expect(free?.text).to.equal('O');
    const [digit] = await readStrip({ read, characters }, strip, (one) => /\d/.test(one));
    expect(digit?.text).to.equal('0');
    expect(digit?.confidence).to.be.closeTo(0.75, 0.01);
  });
});

const ROWS = [
  ['Country', 'Home', 'Abroad', 'Total'],
  ['Austria', '86.2', '0', '3375'],
  ['Belgium', '0', '0', '3973'],
  ['Finland', '13.6', '7', '2737'],
  ['Hungary', '99.8', '0', '6575'],
  ['Portugal', '0', '1.0', '4823'],
  ['Sweden', '23.9', '4', '3930'],
];

/** In pixels at 150 dpi: the middle of the first row, and from row to row. */
const FIRST_ROW = ((792 - 703) * 150) / 72;
const ROW_STEP = (16 * 150) / 72;

describe('a digit alone in the cell of a scanned table', () => {
  it('is read, and keeps its place', async () => {
    const texts = ROWS.flatMap((row, y) =>
      row.map((text, x) => `BT /F1 9 Tf ${60 + 110 * x} ${700 - 16 * y} Td (${text}) Tj ET`),
    );
    const png = await pictureOf(drawnPdf(texts.join('\n')));
    const image = await greyImage(sharp(png).blur(0.6), 150);
    const { words } = await recogniseImage(
      image,
      recognitionOf({ effort: 'standard', languages: ['eng'] }, 1),
    );
    const rows = new Map<number, string[]>();
    for (const { text, box } of [...words].sort((a, b) => a.box[0] - b.box[0])) {
      const row = Math.round(((box[1] + box[3]) / 2 - FIRST_ROW) / ROW_STEP);
      rows.set(row, [...(rows.get(row) ?? []), text]);
    }
    expect([...rows].sort(([a], [b]) => a - b).map(([, row]) => row)).to.deep.equal(ROWS);
  });
});
