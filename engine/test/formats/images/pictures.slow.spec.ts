import { expect } from 'chai';
import sharp from 'sharp';
import { bmpOf, pixelsOf } from '../../support/bmps.ts';
import { drawnRules } from '../../../recognition/drawnRules.ts';
import { openDocumentWorkers, type DocumentWorkers } from '../../../isolation/documentWorkers.ts';
import type { ParseEffort, RenderResult } from '../../../ports/documentParser.ts';
import { pictureOf } from '../../support/pagePictures.ts';
import { drawnPdf } from '../../support/pdfs.ts';
import { tempFolder } from '../../support/tempFolder.ts';
import { drawn, LETTER, scanOf } from '../pdf/drawnLetter.ts';

describe('pictures of text', () => {
  const folder = tempFolder();
  let workers: DocumentWorkers;
  let png: Buffer;
  let files = 0;

  before(async () => {
    workers = openDocumentWorkers({ processes: 2 });
    png = await pictureOf(drawn(LETTER));
  });
  after(async () => {
    await workers.close();
    folder.remove();
  });

  const render = async (bytes: Buffer, effort: ParseEffort = 'standard'): Promise<RenderResult> => {
    files += 1;
    const path = folder.file(`file-${files}`, bytes);
    return workers.parser.render({
      path,
      fileName: null,
      effort,
      pagesMax: 100,
      deadlineMs: 60_000,
      share: 't',
    });
  };
  const textOf = (result: RenderResult): string => {
    if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
    return result.rendition.markdown.replace(/\s+/g, ' ');
  };

  const formats: readonly (readonly [string, () => Promise<Buffer>])[] = [
    ['image/png', () => Promise.resolve(png)],
    ['image/jpeg', () => sharp(png).flatten({ background: '#fff' }).jpeg().toBuffer()],
    ['image/webp', () => sharp(png).webp().toBuffer()],
    ['image/gif', () => sharp(png).gif().toBuffer()],
    ['image/tiff', () => sharp(png).tiff().toBuffer()],
    ['image/avif', () => sharp(png).flatten({ background: '#fff' }).avif({ effort: 0 }).toBuffer()],
    ['image/bmp', async () => {
      const plain = sharp(png).flatten({ background: '#fff' }).raw();
      const { data, info } = await plain.toBuffer({ resolveWithObject: true });
      return bmpOf(pixelsOf(data, info.width), { depth: 24 });
    }],
  ]; // prettier-ignore
  for (const [mimeType, make] of formats)
    it(`are read from ${mimeType}`, async () => {
      const result = await render(await make());
      expect(textOf(result)).to.contain('quick brown fox').and.contain('129.50');
      if (result.kind !== 'ok') return;
      expect(result.rendition.mimeType).to.equal(mimeType);
      expect(result.rendition.pages[0]).to.include({ page: 1, status: 'ok', source: 'ocr', detail: null });
    });

  const framed = async (count: number, format: 'gif' | 'webp' | 'tiff'): Promise<Buffer> => {
    const frames = Array.from({ length: count }, (_, at) => {
      const background = at % 2 === 0 ? '#fff' : '#000';
      return sharp({ create: { width: 40, height: 30, channels: 3, background } })
        .png()
        .toBuffer();
    });
    return sharp(await Promise.all(frames), { join: { animated: true } })
      .toFormat(format)
      .toBuffer();
  };
  for (const format of ['gif', 'webp', 'tiff'] as const)
    it(`are a page for each picture of a ${format}`, async () => {
      const result = await render(await framed(3, format), 'fast');
      if (result.kind !== 'ok') throw new Error(result.kind);
      expect(result.rendition.pages.map(({ page }) => page)).to.deep.equal([1, 2, 3]);
    });

  it('are one page of a film', async () => {
    const result = await render(await framed(101, 'gif'), 'fast');
    if (result.kind !== 'ok') throw new Error(result.kind);
    expect(result.rendition.pages).to.have.length(1);
  });

  it('are read whatever density they claim', async () => {
    expect(
      textOf(await render(await sharp(png).withMetadata({ density: 9000 }).png().toBuffer())),
    ).to.contain('quick brown fox');
  });

  for (const degrees of [90, 180, 270])
    it(`are read when they lie turned by ${degrees} degrees`, async () => {
      const turned = await render(await sharp(png).rotate(degrees).png().toBuffer());
      expect(turned).to.have.nested.property('rendition.pages[0].rotation', 360 - degrees);
      expect(textOf(turned)).to.contain('quick brown fox');
    });

  it('are turned by their own mark', async () => {
    const jpeg = await sharp(png).flatten({ background: '#fff' }).rotate(270).jpeg().toBuffer();
    expect(textOf(await render(await sharp(jpeg).withMetadata({ orientation: 6 }).toBuffer()))).to.contain(
      'quick brown fox',
    );
  });

  it('show tables by the lines that are drawn', async () => {
    const rules = [700, 660, 620, 580].map((y) => `60 ${y} m 500 ${y} l S`);
    const sides = [60, 280, 500].map((x) => `${x} 700 m ${x} 580 l S`);
    const cells = [
      ['Product name', 'Price'],
      ['Garden table', '129.50'],
      ['Folding chair', '34.90'],
    ];
    const texts = cells.flatMap((row, i) =>
      row.map((cell, j) => `BT /F1 14 Tf ${80 + 220 * j} ${675 - 40 * i} Td (${cell}) Tj ET`),
    );
    const picture = await pictureOf(drawnPdf([...rules, ...sides, ...texts].join('\n')));
    const result = await render(picture);
    if (result.kind !== 'ok') throw new Error(result.kind);
    expect(result.rendition.markdown).to.equal(
      '| Product name | Price |\n| --- | --- |\n| Garden table | 129.50 |\n| Folding chair | 34.90 |\n',
    );
  });

  it('that are blank have no text, and say so', async () => {
    const blank = await sharp({ create: { width: 800, height: 600, channels: 3, background: '#fefefe' } })
      .png()
      .toBuffer();
    const result = await render(blank);
    if (result.kind !== 'ok') throw new Error(result.kind);
    expect(result.rendition.pages).to.deep.equal([
      {
        page: 1,
        status: 'empty',
        source: 'ocr',
        detail: 'The image shows no text.',
        width: 800,
        height: 600,
        rotation: 0,
      },
    ]);
    expect(result.rendition.warnings.map(({ code }) => code)).to.deep.equal(['no_text_found']);
  });

  it('with more pixels than allowed are refused before they are unpacked', async () => {
    const bomb = await sharp({
      create: { width: 16_000, height: 16_000, channels: 3, background: '#fff' },
      limitInputPixels: false,
    })
      .png()
      .toBuffer();
    expect(await render(bomb))
      .to.include({ kind: 'unreadable' })
      .and.to.have.property('detail')
      .that.contains('16000 x 16000');
  });

  it('that are cut off are refused or read as far as they go', async () => {
    const cut = await render(png.subarray(0, 300));
    expect(cut.kind).to.equal('unreadable');
  });

  it('in a PDF are recognised in standard, and left alone in fast', async () => {
    const scan = await scanOf(png);
    expect(textOf(await render(scan)))
      .to.contain('quick brown fox')
      .and.contain('4711');
    const fast = await render(scan, 'fast');
    if (fast.kind !== 'ok') throw new Error(fast.kind);
    expect(fast.rendition.pages[0]).to.include({ status: 'skipped', source: 'text_layer' });
    expect(fast.rendition.warnings.map(({ code }) => code)).to.deep.equal(['no_text_found']);
  });

  it('give the same answer again, byte for byte', async () => {
    const scan = await scanOf(png);
    expect(await render(scan)).to.deep.equal(await render(scan));
  });

  it('in robust are looked at on every page, and a good text layer stays', async () => {
    const result = await render(drawn(LETTER), 'robust');
    expect(textOf(result).match(/quick brown fox/g)).to.have.length(1);
  });
});

describe('lines that are drawn on a picture', () => {
  const blank = (width: number, height: number): Uint8Array => new Uint8Array(width * height).fill(255);
  const draw = (
    data: Uint8Array,
    width: number,
    [x0, y0, x1, y1]: readonly [number, number, number, number],
  ): void => {
    for (let y = y0; y < y1; y += 1) data.fill(0, y * width + x0, y * width + x1);
  };

  it('are found along both sides, with the middle of their strength', () => {
    const data = blank(1000, 800);
    draw(data, 1000, [100, 50, 900, 53]);
    draw(data, 1000, [200, 100, 203, 700]);
    expect(drawnRules({ data, width: 1000, height: 800 })).to.deep.equal([
      [100, 51, 900, 51],
      [201, 100, 201, 700],
    ]);
  });

  it('are found when the paper lies a little askew', () => {
    const data = blank(1000, 800);
    for (let x = 100; x < 900; x += 1)
      draw(data, 1000, [x, 50 + Math.floor((x - 100) / 80), x + 1, 53 + Math.floor((x - 100) / 80)]);
    const [rule, ...others] = drawnRules({ data, width: 1000, height: 800 });
    expect(others).to.deep.equal([]);
    expect(rule?.[0]).to.equal(100);
    expect(rule?.[2]).to.equal(900);
  });

  it('are neither bars nor letters', () => {
    const data = blank(1000, 800);
    draw(data, 1000, [100, 100, 900, 160]);
    for (let x = 100; x < 900; x += 12) draw(data, 1000, [x, 300, x + 9, 303]);
    expect(drawnRules({ data, width: 1000, height: 800 })).to.deep.equal([]);
  });
});
