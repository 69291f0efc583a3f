import { Parser } from 'htmlparser2';
import { MarkdownWriter } from './writer.ts';

/** What is in them is not text of the document. */
const SILENT = new Set(['script', 'style', 'template', 'title', 'noscript', 'svg', 'head']);

const BLOCKS = new Set(
  (
    'address article aside blockquote body caption dd div dl dt fieldset figcaption figure footer form header hr ' +
    'main nav ol p pre section ul'
  ).split(' '),
);

const isHeading = (name: string): boolean => /^h[1-6]$/.test(name);

const prefixOf = (name: string): string | undefined => {
  if (isHeading(name)) return `${'#'.repeat(Number(name[1]))} `;
  if (name === 'li') return '- ';
  return BLOCKS.has(name) ? '' : undefined;
};

const opened = (writer: MarkdownWriter, name: string, { alt }: Readonly<Record<string, string>>): void => {
  const prefix = prefixOf(name);
  if (prefix !== undefined) writer.begin(prefix);
  else if (name === 'table') writer.beginTable();
  else if (name === 'tr') writer.beginRow();
  else if (name === 'br') writer.add(' ');
  else if (name === 'img' && alt !== undefined) writer.add(` ${alt} `);
};

const closed = (writer: MarkdownWriter, name: string): void => {
  if (prefixOf(name) !== undefined) writer.begin();
  else if (name === 'table') writer.endTable();
  else if (name === 'td' || name === 'th') writer.endCell();
};

/** The text of a web page with its headings, lists and tables; nothing of it is run or loaded. */
export const pageMarkdown = (html: string): string => {
  const writer = new MarkdownWriter();
  let silent = 0;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      if (SILENT.has(name)) silent += 1;
      else if (silent === 0) opened(writer, name, attributes);
    },
    ontext: (text) => {
      if (silent === 0) writer.add(text);
    },
    onclosetag: (name) => {
      if (SILENT.has(name)) silent = Math.max(0, silent - 1);
      else if (silent === 0) closed(writer, name);
    },
  });
  parser.end(html);
  return writer.markdown();
};
