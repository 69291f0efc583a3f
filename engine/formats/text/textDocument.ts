import type { Block, Document, Line } from '../../document/document.ts';
import { escapeText } from '../../document/inline.ts';
import { documentOfBlocks, lineOf, type PlacedBlock } from '../flow.ts';

/** Plain text: a blank line parts paragraphs, and each line stays a line. */
export function textDocument(text: string, pages: number): Document {
  const placed: PlacedBlock[] = [];
  let paragraph: string[] = [];
  let start = 0;
  let offset = 0;
  const flush = (): void => {
    if (paragraph.length > 0) placed.push({ offset: start, ...paragraphOf(paragraph) });
    paragraph = [];
  };
  for (const line of text.split('\n')) {
    if (line.trim() === '') flush();
    else {
      if (paragraph.length === 0) start = offset;
      paragraph.push(line.trimEnd());
    }
    offset += line.length + 1;
  }
  flush();
  return documentOfBlocks({ mimeType: 'text/plain', placed, length: text.length, pages });
}

function paragraphOf(lines: readonly string[]): { block: Block; lines: readonly Line[] } {
  const text = lines.join('\n');
  return {
    block: { kind: 'paragraph', text, markdown: escapeText(text), box: null },
    lines: lines.map(lineOf),
  };
}
