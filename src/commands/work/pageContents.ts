import type { Block, TableCell } from '@quire/engine/document/document';
import { proposedSchema } from '@quire/engine/extraction/schema/proposedSchema';
import type { PageContents, RenderForm } from '@quire/engine/ports/documentParser';
import type { JsonObject } from '../../../domain/kernel/json.ts';

const cellAnswer = ({ text, box, row, column, rowSpan, columnSpan }: TableCell): JsonObject => ({
  ...{ text, row, column, row_span: rowSpan, column_span: columnSpan },
  bbox: box,
});

/** A block in the words of the interface. */
const blockAnswer = (block: Block): JsonObject => {
  const { kind: type, box: bbox } = block;
  switch (block.kind) {
    case 'heading':
      return { type, bbox, text: block.text, level: block.level };
    case 'list_item':
      return {
        type,
        bbox,
        text: block.text,
        ordered: block.ordered,
        number: block.number,
        depth: block.depth,
      };
    case 'table': {
      const { rows, columns, headerRows, continues, cells } = block;
      return {
        ...{ type, bbox, rows, columns, header_rows: headerRows },
        ...(continues !== undefined && { continues }),
        cells: cells.map(cellAnswer),
      };
    }
    case 'code':
      return { type, bbox, text: block.text, language: block.language };
    case 'paragraph':
    case 'image':
      return { type, bbox, text: block.text };
  }
};

/** The member `pages` of a conversion: what was asked for of each page. */
const pageContentAnswers = (pages: readonly PageContents[]): readonly JsonObject[] =>
  pages.map(({ page, markdown, blocks }) => ({
    page,
    ...(markdown !== undefined && { markdown }),
    ...(blocks !== undefined && { blocks: blocks.map(blockAnswer) }),
  }));

/** What the answer has beside the whole text. */
export interface ConversionForm extends RenderForm {
  /** A JSON Schema of the fields that the document names itself. */
  readonly proposedSchema?: boolean | undefined;
}

/** What is asked of the renderer: a schema is proposed from blocks. */
export const renderFormOf = ({ proposedSchema: isProposed, ...form }: ConversionForm): RenderForm => ({
  ...form,
  blocks: form.blocks === true || isProposed === true,
});

/** The members of a conversion's answer that its form asks for. */
export const askedContents = (
  pages: readonly PageContents[],
  { blocks, pageMarkdown, proposedSchema: isProposed }: ConversionForm,
): JsonObject => ({
  ...((blocks === true || pageMarkdown === true) && {
    pages: pageContentAnswers(blocks === true ? pages : pages.map(({ blocks: _, ...page }) => page)),
  }),
  ...(isProposed === true && {
    proposed_schema: proposedSchema(pages.flatMap(({ blocks: found = [] }) => found)),
  }),
});
