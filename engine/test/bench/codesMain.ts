// How many codes are read: 200 on drawn pages, and 20 as a phone takes them. `node tools/build/run.js` runs it.
import { pid, stdout } from 'node:process';
import sharp, { type Sharp } from 'sharp';
import { codesSeen } from '../../recognition/codeReader.ts';
import { codePng } from '../support/codePictures.ts';
import { type Random, seededRandom } from '../support/random.ts';
import { cpuSince } from './cpu.ts';

const FORMATS = ['QRCode', 'DataMatrix', 'PDF417', 'Aztec', 'EAN13', 'Code128'] as const;
type CodeName = (typeof FORMATS)[number];

const DRAWN = 200;
const TAKEN = 20;
const SEED = 48;
/** A4 at 150 dots an inch. */
const PAGE = { width: 1240, height: 1754 };

const eanOf = (number: number): string => {
  const digits = String(400_000_000_000 + number);
  const sum = Array.from(digits).reduce((all, digit, at) => all + Number(digit) * (at % 2 === 0 ? 1 : 3), 0);
  return `${digits}${String((10 - (sum % 10)) % 10)}`;
};

const textOf = (format: CodeName, number: number): string => {
  if (format === 'EAN13') return eanOf(7_919 * number);
  if (format === 'QRCode')
    return `BCD\n002\n1\nSCT\n\nAlder GmbH\nDE89370400440532013000\nEUR${String(number)}.50\n\nRF18539007547034\n`;
  return `${format}-${String(number).padStart(6, '0')}`;
};

/** A page with one code and lines that stand for text. */
const drawn = async (text: string, format: CodeName, { between }: Random): Promise<Buffer> => {
  const code = await codePng(text, format, between(2, 4));
  const lines = Array.from({ length: 30 }, (_, at) => {
    const y = 900 + 25 * at;
    return `<rect x="120" y="${String(y)}" width="${String(between(300, 1000))}" height="9" fill="#333"/>`;
  });
  const svg = `<svg width="${String(PAGE.width)}" height="${String(PAGE.height)}">${lines.join('')}</svg>`;
  return sharp({ create: { ...PAGE, channels: 3, background: '#fff' } })
    .composite([
      { input: Buffer.from(svg), left: 0, top: 0 },
      { input: code, left: between(60, 300), top: between(60, 300) },
    ])
    .png()
    .toBuffer();
};

/** As a phone takes it: turned and slanted, unsharp, with noise, in uneven light, packed as a JPEG. */
const taken = async (page: Buffer, { next, between }: Random): Promise<Buffer> => {
  const slant = 0.06 * (next() - 0.5);
  const turned = await sharp(page)
    .resize({ width: 2 * PAGE.width })
    .affine([1, slant, -slant, 1], { background: '#bbb' })
    .rotate(between(-25, 25), { background: '#888' })
    .blur(1 + next())
    .png()
    .toBuffer();
  const { width, height } = await sharp(turned).metadata();
  const shade = `<svg width="${String(width)}" height="${String(height)}"><defs><linearGradient id="g" x2="1" y2="1">
    <stop offset="0" stop-color="#fff"/><stop offset="1" stop-color="#777"/></linearGradient></defs>
    <rect width="100%" height="100%" fill="url(#g)"/></svg>`;
  const noise = Buffer.alloc(width * height, 0).map(
    () => 128 + Math.round(40 * (next() + next() + next() - 1.5)),
  );
  const grain = await sharp(noise, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
  return sharp(turned)
    .composite([
      { input: Buffer.from(shade), blend: 'multiply' },
      { input: grain, blend: 'soft-light' },
    ])
    .jpeg({ quality: 70 })
    .toBuffer();
};

const LONG_SIDE = 2_480;

const isRead = async (image: Sharp, text: string): Promise<boolean> => {
  const { data, info } = await image
    .resize({ width: LONG_SIDE, height: LONG_SIDE, fit: 'inside', withoutEnlargement: true })
    .greyscale()
    .extractChannel(0)
    .raw()
    .toBuffer({ resolveWithObject: true });
  return (await codesSeen({ data, ...info })).some((code) => code.text === text);
};

const measured = async (
  name: string,
  count: number,
  picture: (page: Buffer, random: Random) => Promise<Buffer>,
) => {
  const random = seededRandom(SEED);
  const read = new Map<CodeName, { hits: number; all: number }>();
  let cpuMs = 0;
  for (let at = 0; at < count; at += 1) {
    const format = FORMATS[at % FORMATS.length] ?? 'QRCode';
    const text = textOf(format, at + 1);
    const shown = await picture(await drawn(text, format, random), random);
    const since = cpuSince([pid]);
    const hit = await isRead(sharp(shown), text);
    cpuMs += since();
    const { hits, all } = read.get(format) ?? { hits: 0, all: 0 };
    read.set(format, { hits: hits + Number(hit), all: all + 1 });
  }
  const hits = [...read.values()].reduce((sum, one) => sum + one.hits, 0);
  stdout.write(
    `${name}: ${String(hits)} of ${String(count)}, ${String(Math.round(cpuMs / count))} ms of CPU a page\n`,
  );
  for (const [format, one] of read) stdout.write(`  ${format}: ${String(one.hits)} of ${String(one.all)}\n`);
};

await measured('drawn', DRAWN, (page) => Promise.resolve(page));
await measured('taken', TAKEN, taken);
