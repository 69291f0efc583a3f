import { z } from 'zod';
import { escapeText } from '../document/inline.ts';
import type { ModelAttachment, ReadBlock, ReadPage } from '../ports/modelProvider.ts';
import type { Attempt } from './attempts.ts';
import type { HttpAnswer } from './exchange.ts';
import {
  askedUntilRead,
  base64,
  boxOnPage,
  fault,
  jsonIn,
  usageOfPages,
  type OcrCall,
  type Read,
} from './ocr.ts';

const reference = z.object({ $ref: z.string() });

/** Points on the page, from its top or from its bottom. */
const bounds = z.object({
  l: z.unknown().optional(),
  t: z.unknown().optional(),
  r: z.unknown().optional(),
  b: z.unknown().optional(),
  coord_origin: z.string().nullish(),
});

const provenance = z.object({
  page_no: z.int().min(1),
  bbox: bounds.nullish().catch(null),
  /** Of the text, where it stands on several pages. */
  charspan: z.array(z.int().min(0)).length(2).nullish().catch(null),
});

const tableCell = z.object({
  text: z.string(),
  bbox: bounds.nullish().catch(null),
  row_span: z.int().min(1).max(1_000).nullish(),
  col_span: z.int().min(1).max(1_000).nullish(),
  start_row_offset_idx: z.int().min(0),
  start_col_offset_idx: z.int().min(0),
  column_header: z.boolean().nullish(),
});

/** Whatever stands in the tree: a text, a table, a picture, a group of others. */
const item = z.object({
  children: z.array(reference).nullish(),
  captions: z.array(reference).nullish(),
  label: z.string().nullish(),
  text: z.string().nullish(),
  level: z.int().min(1).nullish().catch(null),
  marker: z.string().nullish(),
  prov: z.array(provenance).nullish(),
  data: z.object({ table_cells: z.array(tableCell) }).nullish(),
});

const items = z.array(item).default([]);
const pageItem = z.object({
  page_no: z.int().min(1),
  size: z.object({ width: z.number().positive(), height: z.number().positive() }).nullish().catch(null),
});

const doclingDocument = z.object({
  body: item.nullish(),
  furniture: item.nullish(),
  groups: items,
  texts: items,
  tables: items,
  pictures: items,
  key_value_items: items,
  form_items: items,
  pages: z.record(z.string(), pageItem),
});

const begun = z.object({ task_id: z.string().regex(/^[\w-]{1,100}$/u) });
const state = z.object({ task_status: z.enum(['pending', 'started', 'success', 'failure']) });
const result = z.object({
  status: z.enum(['success', 'partial_success', 'failure', 'skipped', 'pending', 'started']),
  document: z.object({ json_content: doclingDocument.nullish() }),
});

type Item = z.output<typeof item>;
type DoclingDocument = z.output<typeof doclingDocument>;

const FILE_NAMES: Readonly<Record<string, string>> = {
  'application/pdf': 'document.pdf',
  'image/png': 'page.png',
  'image/jpeg': 'page.jpg',
};

const fileName = ({ mimeType }: ModelAttachment): string => FILE_NAMES[mimeType] ?? 'document';

/**
 * A server of docling-serve, by the first version of its API: the file is handed in, asked after until it is read,
 * and fetched as a DoclingDocument. The model's name is that of the pipeline: `standard` or `vlm`.
 */
export async function readWithDocling(call: OcrCall): Promise<Attempt<Read>> {
  const { access, file, pages } = call.request;
  const base = call.base.href.replace(/\/$/u, '');
  const headers = access.apiKey === undefined ? {} : { 'x-api-key': access.apiKey };
  const handedIn = await call.http({
    method: 'POST',
    url: `${base}/convert/source/async`,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      options: {
        to_formats: ['json'],
        pipeline: access.ref.model,
        image_export_mode: 'placeholder',
        include_images: false,
        ...(pages && { page_range: [Math.min(...pages), Math.max(...pages)] }),
      },
      sources: [{ kind: 'file', base64_string: base64(file.bytes), filename: fileName(file) }],
      target: { kind: 'inbody' },
    }),
  });
  if (handedIn.kind === 'fault') return handedIn;
  const { status, text } = handedIn.answer;
  const task = begun.safeParse(jsonIn(text));
  if (!task.success) return fault({ kind: 'malformed', status });
  const id = task.data.task_id;
  const question = { method: 'GET', url: `${base}/status/poll/${id}`, headers } as const;
  const read = await askedUntilRead(call, { question, answer: handedIn.answer }, stateIn);
  if (read.kind === 'fault') return read;
  const fetched = await call.http({ method: 'GET', url: `${base}/result/${id}`, headers });
  return fetched.kind === 'fault' ? fetched : readIn(fetched.answer);
}

function stateIn({ status, text }: HttpAnswer): Attempt<null> | 'running' {
  const told = state.safeParse(jsonIn(text));
  if (!told.success) return fault({ kind: 'malformed', status });
  if (told.data.task_status === 'failure') return fault({ kind: 'unreadable', status });
  return told.data.task_status === 'success' ? { kind: 'ok', value: null } : 'running';
}

function readIn({ status, text }: HttpAnswer): Attempt<Read> {
  const answer = result.safeParse(jsonIn(text));
  if (!answer.success) return fault({ kind: 'malformed', status });
  const document = answer.data.document.json_content;
  if (!answer.data.status.endsWith('success') || !document) return fault({ kind: 'unreadable', status });
  const pages = pagesOf(document);
  return { kind: 'ok', value: { pages, usage: usageOfPages(pages.length) } };
}

/** Text of one page, as its markdown has it, and as a block of it. */
interface Placed {
  readonly page: number;
  readonly markdown: string;
  readonly block: ReadBlock;
}

/** The pages that were read, with their blocks in reading order. */
function pagesOf(document: DoclingDocument): readonly ReadPage[] {
  const sizes = new Map(Object.values(document.pages).map(({ page_no, size }) => [page_no, size ?? null]));
  const byPage = new Map<number, Placed[]>([...sizes.keys()].map((page) => [page, []]));
  for (const placed of placedIn(document, sizes)) byPage.get(placed.page)?.push(placed);
  return [...byPage]
    .sort(([one], [other]) => one - other)
    .map(([page, placed]) => ({
      page,
      markdown: placed.map(({ markdown }) => markdown).join('\n\n'),
      ...sizeOf(sizes.get(page)),
      words: [],
      blocks: placed.map(({ block }) => block),
    }));
}

type Size = { readonly width: number; readonly height: number } | null;

const sizeOf = (size: Size | undefined) => size ?? { width: null, height: null };

/** What stands in the tree of the document, each once however often it is referred to, from its top down. */
function placedIn(document: DoclingDocument, sizes: ReadonlyMap<number, Size>): readonly Placed[] {
  const found: Placed[] = [];
  const seen = new Set<Item>();
  const left = [document.furniture, document.body].flatMap((root) => (root ? [root] : []));
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    for (const placed of piecesOf(next, sizes))
      found.push({ ...placed, page: placed.page ?? found.at(-1)?.page ?? 1 });
    for (const below of belowOf(document, next).reverse()) left.push(below);
  }
  return found;
}

/** What an item refers to, in reading order; what it refers to in vain is left out. */
const belowOf = (document: DoclingDocument, { captions, children }: Item): Item[] =>
  [...(captions ?? []), ...(children ?? [])].flatMap(({ $ref }) => referredTo(document, $ref) ?? []);

const REFERENCE = /^#\/(groups|texts|tables|pictures|key_value_items|form_items)\/(\d{1,9})$/u;

function referredTo(document: DoclingDocument, pointer: string): Item | undefined {
  const [, list, index] = REFERENCE.exec(pointer) ?? [];
  return list === undefined ? undefined : document[list as 'texts'][Number(index)];
}

type Piece = Omit<Placed, 'page'> & { readonly page: number | undefined };

/** An item's own text, cut by the pages that it stands on: each letter is on one of them. */
function piecesOf(one: Item, sizes: ReadonlyMap<number, Size>): readonly Piece[] {
  const places = one.prov ?? [];
  const [first] = places;
  if (one.data) return [tablePiece(one, { first, sizes })];
  const { text } = one;
  if (typeof text !== 'string' || text.trim() === '') return [];
  if (first === undefined) return [textPiece(one, text, { first, sizes })];
  let from = 0;
  return places.flatMap((place, at) => {
    const to = at === places.length - 1 ? text.length : Math.max(from, place.charspan?.[1] ?? text.length);
    const own = text.slice(from, to);
    from = to;
    return own.trim() === '' ? [] : [textPiece(one, own, { first: place, sizes })];
  });
}

interface ItemOrigin {
  readonly first: z.output<typeof provenance> | undefined;
  readonly sizes: ReadonlyMap<number, Size>;
}

function textPiece(one: Item, text: string, place: ItemOrigin): Piece {
  const kind = one.label === 'title' || one.label === 'section_header' ? 'heading' : 'text';
  return {
    page: place.first?.page_no,
    markdown: markdownOf(one, text),
    block: { kind, text: markdownOf(one, text), box: boxOf(place.first?.bbox, place), confidence: 1 },
  };
}

const LEVEL_MAX = 6;

function markdownOf({ label, level, marker }: Item, text: string): string {
  const plain = escapeText(text);
  if (label === 'title') return `# ${plain.replaceAll('\n', ' ')}`;
  if (label === 'section_header')
    return `${'#'.repeat(Math.min(LEVEL_MAX, (level ?? 1) + 1))} ${plain.replaceAll('\n', ' ')}`;
  if (label === 'list_item') return `${/^\d{1,9}[.)]$/u.test(marker ?? '') ? marker : '-'} ${plain}`;
  return label === 'code' ? `    ${text.replaceAll('\n', '\n    ')}` : plain;
}

/** A table as HTML, for cells may span others. */
function tablePiece(one: Item, place: ItemOrigin): Piece {
  const cells = one.data?.table_cells ?? [];
  const rows = new Map<number, typeof cells>();
  for (const cell of cells) {
    const row = rows.get(cell.start_row_offset_idx);
    if (row === undefined) rows.set(cell.start_row_offset_idx, [cell]);
    else row.push(cell);
  }
  const lines = [...rows].sort(([a], [b]) => a - b).map(([, row]) => `<tr>${row.map(htmlOf).join('')}</tr>`);
  const markdown = `<table>\n${lines.join('\n')}\n</table>`;
  return {
    page: place.first?.page_no,
    markdown,
    block: {
      kind: 'table',
      text: markdown,
      box: boxOf(place.first?.bbox, place),
      confidence: 1,
      cells: cells.flatMap((cell) => {
        const box = boxOf(cell.bbox, place);
        return box === null
          ? []
          : [{ row: cell.start_row_offset_idx, column: cell.start_col_offset_idx, box }];
      }),
    },
  };
}

const htmlOf = ({ text, row_span, col_span, column_header }: z.output<typeof tableCell>): string => {
  const name = column_header === true ? 'th' : 'td';
  const plain = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('\n', ' ');
  return `<${name} rowspan="${row_span ?? 1}" colspan="${col_span ?? 1}">${plain}</${name}>`;
};

function boxOf(
  box: z.output<typeof bounds> | null | undefined,
  { first, sizes }: ItemOrigin,
): ReadBlock['box'] {
  const size = sizeOf(sizes.get(first?.page_no ?? 0));
  if (!box) return null;
  const fromTop = (at: unknown): unknown =>
    box.coord_origin === 'BOTTOMLEFT' && typeof at === 'number' ? (size.height ?? Number.NaN) - at : at;
  return boxOnPage([box.l, fromTop(box.t), box.r, fromTop(box.b)], size);
}
