import { z } from 'zod';

const bbox = z.array(z.number()).length(4).nullable().meta({ description: 'Points from the top left.' });

const blockOut = z
  .strictObject({
    type: z.enum(['heading', 'paragraph', 'list_item', 'table', 'code', 'image']),
    bbox,
    text: z.string().optional().meta({ description: 'Of all but tables.' }),
    level: z.int().optional().meta({ description: 'Of a heading: 1 to 6.' }),
    ordered: z.boolean().optional().meta({ description: 'Of a list item.' }),
    number: z.int().nullish().meta({ description: 'Of an ordered list item.' }),
    depth: z.int().optional().meta({ description: 'Of a list item, from 0.' }),
    language: z.string().nullish().meta({ description: 'Of code.' }),
    rows: z.int().optional().meta({ description: 'Of a table.' }),
    columns: z.int().optional().meta({ description: 'Of a table.' }),
    header_rows: z
      .int()
      .optional()
      .meta({ description: 'Of a table: how many of its first rows are headers.' }),
    continues: z
      .enum(['table', 'row'])
      .optional()
      .meta({
        description:
          'Of a table that goes on with the last table of the page before: its header rows repeat the header there. ' +
          '`row`: its first row below them also goes on with the last row there.',
      }),
    cells: z
      .array(
        z.strictObject({
          text: z.string(),
          row: z.int().meta({ description: 'From 0.' }),
          column: z.int().meta({ description: 'From 0.' }),
          row_span: z.int(),
          column_span: z.int(),
          bbox,
        }),
      )
      .optional()
      .meta({ description: 'Of a table.' }),
  })
  .meta({ id: 'Block' });

/** What `include` asks of a page. */
export const pageContents = z
  .strictObject({
    page: z.int().meta({ description: 'From 1.' }),
    markdown: z.string().optional(),
    blocks: z.array(blockOut).optional().meta({ description: 'In reading order.' }),
  })
  .meta({ id: 'PageContents' });
