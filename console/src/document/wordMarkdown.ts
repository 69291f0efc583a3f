import { unzipSync } from 'fflate';
import { Parser } from 'htmlparser2';
import { MarkdownWriter } from './markdownWriter.ts';

const BODY = 'word/document.xml';
/** An archive may say that it unpacks to anything. */
const UNPACKED_MAX = 64 * 1024 * 1024;

const headingOf = (style: string): string | undefined => {
  if (/^title$/i.test(style)) return '# ';
  const level = /^heading\s?([1-6])$/i.exec(style)?.[1];
  return level === undefined ? undefined : `${'#'.repeat(Number(level))} `;
};

type Attributes = Readonly<Record<string, string>>;

/** Properties stand before the text of their paragraph, so that it is begun again with what they say. */
const OPENED: Readonly<Record<string, (writer: MarkdownWriter, attributes: Attributes) => void>> = {
  'w:p': (writer) => writer.begin(),
  'w:pStyle': (writer, { 'w:val': style = '' }) => {
    const prefix = headingOf(style);
    if (prefix !== undefined) writer.begin(prefix);
  },
  'w:numPr': (writer) => writer.begin('- '),
  'w:tab': (writer) => writer.add(' '),
  'w:br': (writer) => writer.add(' '),
  'w:tbl': (writer) => writer.beginTable(),
  'w:tr': (writer) => writer.beginRow(),
};

const CLOSED: Readonly<Record<string, (writer: MarkdownWriter) => void>> = {
  'w:p': (writer) => writer.begin(),
  'w:tc': (writer) => writer.endCell(),
  'w:tbl': (writer) => writer.endTable(),
};

/** The text of a Word document with its headings, lists and tables. */
export const wordMarkdown = (bytes: Uint8Array): string => {
  const body = unzipSync(bytes, {
    filter: ({ name, originalSize }) => name === BODY && originalSize <= UNPACKED_MAX,
  })[BODY];
  if (body === undefined) throw new Error('no Word document, or one too large to be shown');
  const writer = new MarkdownWriter();
  let isText = false;
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        isText = name === 'w:t';
        OPENED[name]?.(writer, attributes);
      },
      ontext: (text) => {
        if (isText) writer.add(text);
      },
      onclosetag: (name) => {
        isText = false;
        CLOSED[name]?.(writer);
      },
    },
    { xmlMode: true },
  );
  parser.end(new TextDecoder().decode(body));
  return writer.markdown();
};
