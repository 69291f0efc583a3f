import type { PreviewKind } from './preview.ts';
import { pageMarkdown, MarkdownWriter, tableText } from './markdownWriter.ts';

/** Of a table, so many rows are shown. */
const ROWS_MAX = 500;

const rowsMarkdown = async (text: string): Promise<string> => {
  const { default: papa } = await import('papaparse');
  const { data } = papa.parse<string[]>(text, { preview: ROWS_MAX, skipEmptyLines: true });
  return `${tableText(data)}\n`;
};

const sheetsMarkdown = async (bytes: ArrayBuffer): Promise<string> => {
  const { read, utils } = await import('@e965/xlsx');
  const { SheetNames: names, Sheets: sheets } = read(bytes, { sheetRows: ROWS_MAX, cellHTML: false });
  const writer = new MarkdownWriter();
  for (const name of names) {
    const sheet = sheets[name];
    if (sheet === undefined || writer.isFull) continue;
    writer.begin('## ');
    writer.add(name);
    writer.end();
    const rows = utils.sheet_to_json<unknown[]>(sheet, {
      header: 1,
      raw: false,
      blankrows: false,
      defval: '',
    });
    writer.write(tableText(rows.map((row) => row.map(String))));
  }
  return writer.markdown();
};

const mailMarkdown = async (bytes: ArrayBuffer): Promise<string> => {
  const { default: PostalMime } = await import('postal-mime');
  const { subject, from, to = [], date, text, html, attachments } = await PostalMime.parse(bytes);
  const writer = new MarkdownWriter();
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['From', from && [from.name, from.address].filter(Boolean).join(', ')],
    ['To', to.map(({ name, address }) => [name, address].filter(Boolean).join(', ')).join('; ')],
    ['Date', date],
    ['Attachments', attachments.map(({ filename }) => filename ?? '').join(', ')],
  ];
  writer.begin('# ');
  writer.add(subject ?? '');
  for (const [name, value = ''] of lines) {
    writer.begin();
    if (value !== '') writer.add(`${name}: ${value}`);
  }
  writer.end();
  if (html !== undefined) writer.write(pageMarkdown(html).trim());
  else
    for (const paragraph of (text ?? '').split(/\n\s*\n/)) {
      writer.begin();
      writer.add(paragraph);
    }
  return writer.markdown();
};

/** A document as markdown, as this browser reads it: quicker and poorer than the service, and free. */
export const previewMarkdown = async (file: Blob, kind: PreviewKind): Promise<string> => {
  switch (kind) {
    case 'markdown':
      return file.text();
    case 'page':
      return pageMarkdown(await file.text());
    case 'rows':
      return rowsMarkdown(await file.text());
    case 'word': {
      const { wordMarkdown } = await import('./wordMarkdown.ts');
      return wordMarkdown(new Uint8Array(await file.arrayBuffer()));
    }
    case 'sheets':
      return sheetsMarkdown(await file.arrayBuffer());
    case 'mail':
      return mailMarkdown(await file.arrayBuffer());
  }
};
