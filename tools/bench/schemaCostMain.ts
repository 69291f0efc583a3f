import { writeFile } from 'node:fs/promises';
import { extract } from '@quire/engine/extraction/extract';
import { readFileAsDocument } from '@quire/engine/formats/readDocument';
import type { Document } from '@quire/engine/document/document';
import { cpuSince } from '../../engine/test/bench/cpu.ts';
import { pagedPdf } from '../../engine/test/bench/pagedPdf.ts';
import { ledgerPages, reportPages } from '../../engine/test/bench/pdfPages.ts';
import type { JsonObject } from '@quire/engine/kernel/json';

const OF = 'net gross total average annual quarterly deferred current other accrued operating minimum'.split(
  ' ',
);
const WHAT = (
  'revenue income tax asset liability interest payment lease dividend share goodwill inventory receivable expense ' +
  'margin cash debt equity pension impairment'
).split(' ');
const HOW = ['amount', 'rate', 'date', 'description', 'balance'];
const MEMBERS = 6;

/** A type that the last word of a name goes with. */
const typeFor = (how: string): JsonObject => {
  if (how === 'date') return { type: 'string', format: 'date' };
  return { type: how === 'description' ? 'string' : 'number' };
};

const named = (at: number): readonly [string, JsonObject] => {
  const [of, what, how] = [OF[at % OF.length], WHAT[(at * 7) % WHAT.length], HOW[(at * 3) % HOW.length]];
  const again = Math.floor(at / (OF.length * HOW.length));
  const name = [of, what, how, ...(again === 0 ? [] : [String(again)])].join('_');
  return [
    name,
    { ...typeFor(how ?? ''), description: `The ${of ?? ''} ${what ?? ''} as reported: ${how ?? ''}` },
  ];
};

/** A schema of about so many fields, all of them different: half of them alone, half as members of lists of six. */
function askedSchema(fields: number): JsonObject {
  const alone = Array.from({ length: Math.ceil(fields / 2) }, (_, i) => named(i));
  const lists = Array.from({ length: Math.floor(fields / 2 / MEMBERS) }, (_, list): [string, JsonObject] => {
    const members = Array.from({ length: MEMBERS }, (__, i) => named(1_000 + list * MEMBERS + i));
    const items = { type: 'object', properties: Object.fromEntries(members) };
    return [`schedule_${String(list)}`, { type: 'array', items }];
  });
  return { type: 'object', properties: Object.fromEntries([...alone, ...lists]) };
}

/*
 * CPU seconds that an extraction takes once its document is read: by pages with the same fields, by fields with the
 * same pages, and with most of both: what the two together add, or multiply. BENCH_SVG names a file for the plot.
 */
const PAGES = [10, 20, 40, 80];
const FIELDS = [50, 100, 200, 400];
const SAME = { pages: 20, fields: 100 };

/** Half of it prose, half of it tables. */
const documentOf = async (pages: number): Promise<Document> => {
  const bytes = pagedPdf([...reportPages(pages / 2), ...ledgerPages(pages / 2)]);
  const facts = { fileName: 'report.pdf', effort: 'fast', pagesMax: pages, languages: ['eng'] } as const;
  const read = await readFileAsDocument({ ...facts, bytes, deadlineMs: 120_000 });
  if (read.kind !== 'ok') throw new Error(`the document was not read: ${read.kind}`);
  return read.document;
};

interface Point {
  readonly at: number;
  readonly seconds: number;
}

const measured = async (pages: number, fields: number): Promise<number> => {
  const [document, schema] = [await documentOf(pages), askedSchema(fields)];
  const spent = cpuSince([process.pid]);
  extract(document, schema);
  return spent() / 1000;
};

const series = async (
  sizes: readonly number[],
  of: (size: number) => Promise<number>,
): Promise<readonly Point[]> => {
  const points: Point[] = [];
  for (const at of sizes) points.push({ at, seconds: await of(at) });
  return points;
};

const table = (what: string, points: readonly Point[]): string =>
  [
    `| ${what} | CPU seconds |\n| ---: | ---: |`,
    ...points.map(({ at, seconds }) => `| ${String(at)} | ${seconds.toFixed(1)} |`),
  ].join('\n');

const [WIDTH, HEIGHT, MARGIN] = [360, 220, 44];

const axes = (left: number): string =>
  `M${String(left + MARGIN)} ${String(MARGIN)}V${String(HEIGHT - MARGIN)}H${String(left + WIDTH - MARGIN)}`;

/** A line of points from the origin, with its axes. */
const panel = (title: string, points: readonly Point[], left: number): string => {
  const most = {
    at: Math.max(...points.map(({ at }) => at)),
    seconds: Math.max(...points.map(({ seconds }) => seconds)),
  };
  const x = (at: number): number => left + MARGIN + (at / most.at) * (WIDTH - 2 * MARGIN);
  const y = (seconds: number): number => HEIGHT - MARGIN - (seconds / most.seconds) * (HEIGHT - 2 * MARGIN);
  const text = (at: readonly [number, number], said: string): string =>
    `<text x="${at[0].toFixed(0)}" y="${at[1].toFixed(0)}" font-size="11" text-anchor="middle">${said}</text>`;
  const line = points.map(({ at, seconds }) => `${x(at).toFixed(1)},${y(seconds).toFixed(1)}`).join(' ');
  return [
    text([left + WIDTH / 2, 20], title),
    `<path d="${axes(left)}" fill="none" stroke="#888"/>`,
    `<polyline points="${line}" fill="none" stroke="#1a5fb4" stroke-width="2"/>`,
    ...points.map(({ at }) => text([x(at), HEIGHT - MARGIN + 16], String(at))),
    ...points.map(({ at, seconds }) => text([x(at), y(seconds) - 8], seconds.toFixed(1))),
  ].join('\n');
};

await measured(2, 12);
const byPages = await series(PAGES, (pages) => measured(pages, SAME.fields));
console.log(`${table(`pages, ${String(SAME.fields)} fields`, byPages)}\n`);
const byFields = await series(FIELDS, (fields) => measured(SAME.pages, fields));
console.log(table(`fields, ${String(SAME.pages)} pages`, byFields));
const secondsAt = (points: readonly Point[], size: number): number =>
  points.find(({ at }) => at === size)?.seconds ?? NaN;
const [pages, fields] = [Math.max(...PAGES), Math.max(...FIELDS)];
const [least, most] = [secondsAt(byFields, SAME.fields), secondsAt(byFields, fields)];
const more = secondsAt(byPages, pages) / secondsAt(byPages, SAME.pages);
const both = await measured(pages, fields);
console.log(
  `\n${String(pages)} pages, ${String(fields)} fields: ${both.toFixed(1)} CPU seconds; were both added ` +
    `${(most + (more - 1) * least).toFixed(1)}, were they multiplied ${(most * more).toFixed(1)}`,
);
const file = process.env['BENCH_SVG'];
const svg = [
  '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" ' +
    `viewBox="0 0 ${String(2 * WIDTH)} ${String(HEIGHT)}">`,
  `<rect width="100%" height="100%" fill="#fff"/>`,
  panel(`CPU seconds by pages, ${String(SAME.fields)} fields`, byPages, 0),
  panel(`CPU seconds by fields, ${String(SAME.pages)} pages`, byFields, WIDTH),
  '</svg>',
].join('\n');
if (file !== undefined) await writeFile(file, `${svg}\n`);
