import { strToU8, zipSync } from 'fflate';
import type { Block, Document } from '../../document/document.ts';

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const TYPES = 'http://schemas.openxmlformats.org/package/2006/content-types';
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PART = 'application/vnd.openxmlformats-officedocument.wordprocessingml';

const run = (text: string): string =>
  `<w:r><w:t xml:space="preserve">${text.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</w:t></w:r>`;

const paragraph = (text: string, style?: string): string =>
  `<w:p>${style === undefined ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}${run(text)}</w:p>`;

function blockXml(block: Block): string {
  if (block.kind === 'heading') return paragraph(block.text, `Heading${block.level}`);
  if (block.kind !== 'table') return paragraph(block.text);
  const rows = Array.from({ length: block.rows }, (_, row) => {
    const cells = block.cells.filter((cell) => cell.row === row);
    return `<w:tr>${cells.map(({ text }) => `<w:tc>${paragraph(text)}</w:tc>`).join('')}</w:tr>`;
  });
  return `<w:tbl>${rows.join('')}</w:tbl>`;
}

const styles = [1, 2, 3, 4, 5, 6].map(
  (level) =>
    `<w:style w:type="paragraph" w:styleId="Heading${level}"><w:name w:val="heading ${level}` +
    `"/><w:pPr><w:outlineLvl w:val="${level - 1}"/></w:pPr></w:style>`,
);

/** A document's headings, paragraphs and tables as a Word file. */
export function wordFileOf({ pages }: Document): Buffer {
  const body = pages.flatMap(({ blocks }) => blocks.map(blockXml)).join('');
  const parts = {
    '[Content_Types].xml':
      `<Types xmlns="${TYPES}"><Default Extension="rels" ` +
      'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override ' +
      `PartName="/word/document.xml" ContentType="${PART}.document.main+xml"/><Override ` +
      `PartName="/word/styles.xml" ContentType="${PART}.styles+xml"/></Types>`,
    '_rels/.rels':
      `<Relationships xmlns="${RELATIONS}"><Relationship Id="r1" Type="${OFFICE}` +
      '/officeDocument" Target="word/document.xml"/></Relationships>',
    'word/_rels/document.xml.rels':
      `<Relationships xmlns="${RELATIONS}"><Relationship Id="r1" Type="${OFFICE}/styles" ` +
      'Target="styles.xml"/></Relationships>',
    'word/document.xml': `<w:document ${W}><w:body>${body}</w:body></w:document>`,
    'word/styles.xml': `<w:styles ${W}>${styles.join('')}</w:styles>`,
  };
  const entries = Object.entries(parts).map(([name, xml]) => [name, strToU8(`<?xml version="1.0"?>${xml}`)]);
  return Buffer.from(zipSync(Object.fromEntries(entries) as Record<string, Uint8Array>));
}
