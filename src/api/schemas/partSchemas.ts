import { CODE_FORMATS } from '@quire/engine/document/codes';
import type { ChunkWish } from '@quire/engine/document/chunks';
import { z } from 'zod';
import { bbox, jsonOf } from './basics.ts';

const blockOut = z
  .strictObject({
    type: z.enum(['heading', 'paragraph', 'list_item', 'table', 'code', 'image']),
    bbox,
    text: z.string().optional().meta({ description: 'For all blocks except tables.' }),
    level: z.int().optional().meta({ description: 'For a heading: 1 to 6.' }),
    ordered: z.boolean().optional().meta({ description: 'For a list item.' }),
    number: z.int().nullish().meta({ description: 'For an ordered list item.' }),
    depth: z.int().optional().meta({ description: 'For a list item, starting at 0.' }),
    language: z.string().nullish().meta({ description: 'For code.' }),
    rows: z.int().optional().meta({ description: 'For a table.' }),
    columns: z.int().optional().meta({ description: 'For a table.' }),
    header_rows: z
      .int()
      .optional()
      .meta({ description: 'For a table: how many of its first rows are headers.' }),
    continues: z
      .enum(['table', 'row', 'cell', 'line', 'text'])
      .optional()
      .meta({
        description:
          'For a table that continues the last table of the previous page: its header rows repeat the header there. ' +
          '`row`: its first row below them also continues the last row there; `cell`: within the text of its cells. ' +
          'For other blocks that continue the last block of the previous page: `line`, on a new line; `text`, within ' +
          'a line.',
      }),
    cells: z
      .array(
        z.strictObject({
          text: z.string(),
          row: z.int().meta({ description: 'Starts at 0.' }),
          column: z.int().meta({ description: 'Starts at 0.' }),
          row_span: z.int(),
          column_span: z.int(),
          bbox,
        }),
      )
      .optional()
      .meta({ description: 'For a table.' }),
  })
  .meta({ id: 'Block' });

/** What `include` asks of a page. */
export const pageContents = z
  .strictObject({
    page: z.int().meta({ description: 'Starts at 1.' }),
    markdown: z.string().optional(),
    blocks: z.array(blockOut).optional().meta({ description: 'In reading order.' }),
  })
  .meta({ id: 'PageContents' });

export const chunkOut = z
  .strictObject({
    id: z.string().meta({
      description: 'Follows from text and headings: the same document has the same IDs in every run.',
    }),
    text: z.string().meta({
      description: 'Markdown. Rows of a table are below its header, in each chunk that has some of them.',
    }),
    heading_path: z
      .array(z.string())
      .meta({ description: 'The headings above its text, the outermost first.' }),
    pages: z.array(z.int()).meta({ description: 'Start at 1.' }),
    boxes: z.array(z.strictObject({ page: z.int(), bbox })).meta({
      description: 'Where the text stands; empty for formats without geometry.',
    }),
  })
  .meta({ id: 'Chunk' });

export const codeOut = z
  .strictObject({
    format: z
      .enum(CODE_FORMATS)
      .meta({ description: '`mrz`: the lines for machines of a passport or card.' }),
    text: z.string().meta({ description: 'As it is in the code, control characters included.' }),
    page: z.int().meta({ description: 'Starts at 1.' }),
    bbox,
    parsed: z
      .looseObject({ kind: z.string() })
      .optional()
      .meta({
        description:
          'Its parts by `kind`, where the check digits agree: `epc_payment` (GiroCode), `swiss_qr_bill`, `mrz`, ' +
          '`vcard`, `url`. More kinds may be added.',
      }),
  })
  .meta({ id: 'Code' });

export const tableOut = z
  .strictObject({
    page: z.int().meta({ description: 'Where it begins; starts at 1.' }),
    bbox,
    title: z.string().nullable().meta({ description: 'The last heading above it on its page.' }),
    header_rows: z.int().meta({ description: 'How many of its first rows are headers.' }),
    rows: z.array(z.array(z.string())).meta({
      description: 'The texts of its cells; one that spans several rows or columns stands in each of them.',
    }),
  })
  .meta({ id: 'TableRows' });

/** Bounds of a chunk: shorter ones are words, and longer ones are documents. */
const CHUNK_CHARACTERS = { min: 100, max: 1_000_000 };
const CHUNK_DEFAULT = 2_000;

export const chunksIn = z
  .strictObject({
    by: z
      .enum(['heading', 'page', 'size'])
      .default('heading')
      .meta({
        description:
          'Where a chunk begins: at each heading, at each page, or where the one before is full. A section or page ' +
          'that is longer than `max_characters` is divided.',
      }),
    max_characters: z.int().min(CHUNK_CHARACTERS.min).max(CHUNK_CHARACTERS.max).optional().meta({
      description:
        'Of the text of a chunk. Default: 2,000; by page, no limit. A row of a table is never divided.',
    }),
    overlap: z.int().min(0).max(CHUNK_CHARACTERS.max).default(0).meta({
      description:
        'Characters that a chunk repeats of the one before where that was full; at most half of its size.',
    }),
  })
  .refine(({ max_characters = CHUNK_DEFAULT, overlap }) => 2 * overlap <= max_characters, {
    path: ['overlap'],
    message: 'Must be at most half of max_characters.',
  })
  .meta({ id: 'ChunkWish' });

export const CHUNKS = 'How `include=chunks` divides the document. Default: by heading.';

/** The same in a form: its text. */
export const chunksText = z
  .string()
  .max(1_000)
  .transform(jsonOf)
  .pipe(chunksIn)
  .meta({ 'x-wire': { type: 'string', description: `JSON of a \`ChunkWish\`. ${CHUNKS}` } });
export const chunkWishOf = ({
  by,
  max_characters: maxCharacters,
  overlap,
}: z.output<typeof chunksIn>): ChunkWish => ({
  by,
  maxCharacters,
  overlap,
});
