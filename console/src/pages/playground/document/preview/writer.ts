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
