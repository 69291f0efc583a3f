// Draws the pages of generated documents: node tools/build/run.js tools/reader/pictures.ts FOLDER [SEED] [KIND ...]
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import type { Box, DocumentPage } from '../../engine/document/document.ts';
import type { Rule } from '../../engine/layout/content.ts';
import { generated, KINDS } from './generated.ts';

const [folder = '/tmp/pictures', seed = '0', ...kinds] = process.argv.slice(2);
const PAGES = 2;

const escaped = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

const rectangle = ([x0, y0, x1, y1]: Box, style: string): string =>
  `<rect x="${x0}" y="${y0}" width="${Math.max(0, x1 - x0)}" height="${Math.max(0, y1 - y0)}" ${style}/>`;

/** Words in black where they stand, lines in grey; blocks that the layout found in colours. */
function svgOf({ width, height, lines, blocks }: DocumentPage, rules: readonly Rule[]): string {
  const words = lines.flatMap((line) =>
    line.words.flatMap(({ text, box, bold }) =>
      box === null
        ? []
        : [
            `<text x="${box[0]}" y="${box[3] - (box[3] - box[1]) * 0.2}" font-size="${(box[3] - box[1]) * 0.82}" ` +
              `font-family="sans-serif" ` +
              `font-weight="${bold ? 'bold' : 'normal'}">${escaped(text)}</text>`,
          ],
    ),
  );
  const found = blocks.flatMap((block) => {
    if (block.box === null) return [];
    const colour = {
      table: 'green',
      heading: 'red',
      paragraph: 'blue',
      list_item: 'orange',
      code: 'grey',
      image: 'grey',
    };
    return [
      rectangle(
        block.box,
        `fill="${colour[block.kind]}" fill-opacity="0.06" stroke="${colour[block.kind]}" stroke-width="0.3"`,
      ),
    ];
  });
  const drawn = rules.map(
    ([x0, y0, x1, y1]) => `<path d="M${x0} ${y0}L${x1} ${y1}" stroke="#555" stroke-width="0.6"/>`,
  );
  const size = `width="${width ?? 600}" height="${height ?? 800}"`;
  const white = '<rect width="100%" height="100%" fill="white"/>';
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${[white, ...found, ...drawn, ...words].join('')}</svg>`;
}

mkdirSync(folder, { recursive: true });
for (const kind of kinds.length > 0 ? kinds : KINDS) {
  const one = generated(kind, Number(seed));
  const name = join(folder, `${kind}-${seed}`);
  writeFileSync(`${name}.json`, JSON.stringify({ schema: one.schema, truth: one.truth }, null, 1));
  for (const page of one.document.pages.slice(0, PAGES)) {
    if (page.width === null) continue;
    const svg = svgOf(page, one.rules[page.page - 1] ?? []);
    await sharp(Buffer.from(svg), { density: 110 }).png().toFile(`${name}-${page.page}.png`);
  }
}
