import { Parser } from 'htmlparser2';

/** Signs that would mean something to a reader of markdown. */
const MARKS = /[\\`*_[\]<>|#~]/g;

const escaped = (text: string): string => text.replace(MARKS, '\\$&');

type Row = readonly string[];

/** Rows as a table whose first row is its header; one without rows or columns is nothing. */
export const tableText = (rows: readonly Row[]): string => {
  const width = Math.max(0, ...rows.map((row) => row.length));
  if (width === 0) return '';
  const lineOf = (row: Row): string =>
    `| ${Array.from({ length: width }, (_, at) => escaped((row[at] ?? '').replace(/\s+/g, ' ').trim())).join(' | ')} |`;
  const [head = [], ...rest] = rows;
  return [lineOf(head), `|${' --- |'.repeat(width)}`, ...rest.map(lineOf)].join('\n');
};

/** What is shown beside the values; the rest of a longer document is for the service. */
const CHARACTERS_MAX = 200_000;

/** Puts text that arrives in pieces into blocks of markdown. Tables within a table are text of its cell. */
export class MarkdownWriter {
  readonly #blocks: string[] = [];
  #prefix = '';
  #text = '';
  #length = 0;
  #rows: string[][] | undefined;
  #tables = 0;

  get isFull(): boolean {
    return this.#length >= CHARACTERS_MAX;
  }

  /** A new block: of a heading `## `, of an item of a list `- `. */
  begin(prefix = ''): void {
    if (this.#rows !== undefined) {
      this.add(' ');
      return;
    }
    this.end();
    this.#prefix = prefix;
  }

  add(text: string): void {
    if (!this.isFull) this.#text += text;
  }

  end(): void {
    if (this.#rows !== undefined) return;
    const text = this.#text.replace(/[ \t\r\n]+/g, ' ').trim();
    if (text !== '') this.write(this.#prefix + escaped(text));
    this.#text = '';
    this.#prefix = '';
  }

  /** A block as it is: markdown already. */
  write(block: string): void {
    if (block === '' || this.isFull) return;
    this.#blocks.push(block);
    this.#length += block.length;
  }

  beginTable(): void {
    this.#tables += 1;
    if (this.#tables > 1) return;
    this.end();
    this.#rows = [];
  }

  beginRow(): void {
    if (this.#tables === 1) this.#rows?.push([]);
  }

  endCell(): void {
    if (this.#tables !== 1) return;
    this.#rows?.at(-1)?.push(this.#text);
    this.#length += this.#text.length;
    this.#text = '';
  }

  endTable(): void {
    this.#tables = Math.max(0, this.#tables - 1);
    if (this.#tables > 0 || this.#rows === undefined) return;
    const rows = this.#rows;
    this.#rows = undefined;
    this.#text = '';
    this.#blocks.push(tableText(rows));
  }

  markdown(): string {
    this.endTable();
    this.end();
    return `${this.#blocks.filter((block) => block !== '').join('\n\n')}\n`;
  }
}

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
