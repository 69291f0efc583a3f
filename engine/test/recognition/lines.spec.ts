import { expect } from 'chai';
import { lineStrip, STRIP_HEIGHT } from '../../recognition/ppocr/lineStrip.ts';
import { LINES_MAX, textLines, type TextMap } from '../../recognition/ppocr/textLines.ts';
import { stripWords } from '../../recognition/ppocr/wordGaps.ts';

const WIDTH = 400;
const HEIGHT = 300;

/** A map on which text is likely within these rectangles, each around a middle and turned. */
const mapOf = (
  rectangles: readonly {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
    readonly angle?: number;
  }[],
): TextMap => {
  const data = new Float32Array(WIDTH * HEIGHT);
  for (const { x, y, w, h, angle = 0 } of rectangles)
    for (let at = 0; at < data.length; at += 1) {
      const [dx, dy] = [(at % WIDTH) - x, Math.floor(at / WIDTH) - y];
      const along = dx * Math.cos(angle) + dy * Math.sin(angle);
      const across = dy * Math.cos(angle) - dx * Math.sin(angle);
      if (Math.abs(along) <= w / 2 && Math.abs(across) <= h / 2) data[at] = 0.9;
    }
  return { data, width: WIDTH, height: HEIGHT };
};

describe('lines of text on a map', () => {
  it('are found with white around them', () => {
    const { level, upright } = textLines(mapOf([{ x: 200, y: 100, w: 200, h: 10 }]));
    expect(upright).to.deep.equal([]);
    expect(level).to.have.length(1);
    expect(level[0]?.x).to.be.closeTo(200, 1);
    expect(level[0]?.y).to.be.closeTo(100, 1);
    expect(level[0]?.height).to.be.within(20, 35);
    expect(level[0]?.width).to.be.within(205, 235);
  });

  it('keep their angle, and short ones lie as the long ones do', () => {
    const angle = 0.05;
    const { level } = textLines(
      mapOf([
        { x: 200, y: 100, w: 200, h: 10, angle },
        { x: 200, y: 150, w: 12, h: 10, angle },
      ]),
    );
    expect(level).to.have.length(2);
    for (const line of level) expect(line.angle).to.be.closeTo(angle, 0.01);
  });

  it('that run down are told apart', () => {
    const { level, upright } = textLines(mapOf([{ x: 100, y: 150, w: 10, h: 200 }]));
    expect(level).to.deep.equal([]);
    expect(upright).to.have.length(1);
    expect(upright[0]?.width).to.be.greaterThan(200);
  });

  it('are bounded in number, whatever a picture shows', () => {
    const data = new Float32Array(WIDTH * HEIGHT);
    for (let at = 0; at < data.length; at += 1)
      if ((at % WIDTH) % 4 < 3 && Math.floor(at / WIDTH) % 4 < 3) data[at] = 0.9;
    expect(textLines({ data, width: WIDTH, height: HEIGHT }).level).to.have.length(LINES_MAX);
  });
});

/** White with black letters of six columns from each of these columns on. */
const strip = (width: number, letters: readonly number[]) => {
  const grey = new Uint8Array(width * STRIP_HEIGHT).fill(250);
  for (const from of letters)
    for (let y = 10; y < 38; y += 1) grey.fill(10, y * width + from, y * width + from + 6);
  return { grey, width };
};

describe('words of a line', () => {
  const wordsAt = (letters: readonly number[]): readonly string[] =>
    stripWords(
      strip(300, letters),
      letters.map((from, i) => ({ text: String.fromCharCode(97 + i), at: from + 3, confidence: 0.9 })),
    ).map(({ text }) => text);

  it('are parted by white that is wider than between letters', () => {
    expect(wordsAt([20, 28, 36, 56, 64, 72])).to.deep.equal(['abc', 'def']);
  });

  it('are not torn where letters stand wide apart', () => {
    expect(wordsAt([20, 34, 48, 62, 76])).to.deep.equal(['abcde']);
  });

  it('begin and end with their ink', () => {
    const letters = [20, 28, 60];
    const read = letters.map((from, i) => ({ text: 'xyz'.charAt(i), at: from + 3, confidence: 0.9 }));
    expect(stripWords(strip(100, letters), read).map(({ from, to }) => [from, to])).to.deep.equal([
      [20, 34],
      [60, 66],
    ]);
  });

  it('of an empty line are none', () => {
    expect(stripWords(strip(100, []), [])).to.deep.equal([]);
  });
});

describe('a line cut out of its picture', () => {
  it('is level and of the height that is read, also where it lies askew', () => {
    const [width, height] = [400, 200];
    const data = new Uint8Array(width * height).fill(255);
    for (let x = 50; x < 350; x += 1)
      for (let y = -4; y <= 4; y += 1) data[(Math.round(100 + 0.1 * (x - 200)) + y) * width + x] = 0;
    const line = { x: 200, y: 100, width: 300, height: 30, angle: Math.atan(0.1) };
    const { grey, width: long } = lineStrip({ data, width, height }, line);
    expect(long).to.equal(480);
    for (const x of [20, 240, 460]) {
      expect(grey[24 * long + x], `middle at ${x}`).to.be.lessThan(60);
      expect(grey[4 * long + x], `above at ${x}`).to.be.greaterThan(200);
      expect(grey[44 * long + x], `below at ${x}`).to.be.greaterThan(200);
    }
  });

  it('goes over the edge of the picture', () => {
    const pixels = { data: new Uint8Array(100).fill(200), width: 10, height: 10 };
    const { grey } = lineStrip(pixels, { x: 0, y: 0, width: 40, height: 20, angle: 0.3 });
    expect(new Set(grey)).to.deep.equal(new Set([200]));
  });
});
