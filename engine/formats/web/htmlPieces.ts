import { Parser } from 'htmlparser2';
import { RefusedDocument, type Label, type Piece, type Role } from '../pieces/blocks.ts';
import { linkOf, PLAIN, type Look, type Run } from '../pieces/runs.ts';
import type { SourceCell } from '../pieces/tables.ts';
import { styleOf, type ElementStyle } from './htmlStyle.ts';
import { cellSpans, closedTable, type OpenTable } from './htmlTable.ts';

export interface HtmlPieces {
  readonly pieces: readonly Piece[];
  /** Whether text was left out that a reader would not see. */
  readonly hasHidden: boolean;
}

const ELEMENTS_MAX = 1_000_000;
/** No page of people is nested deeper. */
const DEPTH_MAX = 2000;
const UNSEEN = new Set('script style template noscript head title object iframe svg math canvas'.split(' '));
const BLOCKS = new Set(
  (
    'address article aside blockquote body caption center dd details dialog div dl dt ' +
    'fieldset figcaption figure footer form header hr html legend main nav ol p section ' +
    'summary ul table tr tbody thead tfoot'
  ).split(' '),
);
const BOLD = new Set(['b', 'strong', 'th']);
const ITALIC = new Set(['i', 'em', 'cite', 'dfn', 'var']);
const STRIKE = new Set(['s', 'del', 'strike']);

interface Element {
  readonly name: string;
  readonly look: Look;
  readonly isHidden: boolean;
  readonly hasBackground: boolean;
  readonly role: Role;
  /** Of a cell: what stood before it, and what it covers. */
  readonly cell: Omit<SourceCell, 'pieces'> | null;
}

const ROOT: Element = {
  name: '',
  look: PLAIN,
  isHidden: false,
  hasBackground: false,
  role: { kind: 'paragraph' },
  cell: null,
};

/** The visible text of HTML as pieces in reading order. Nothing is fetched and nothing is run. */
export function htmlPieces(html: string): HtmlPieces {
  const reader = new HtmlReader();
  const parser = new Parser(
    {
      onopentag: (name, attributes) => reader.open(name, attributes),
      ontext: (text) => reader.text(text),
      onclosetag: (name) => reader.close(name),
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.write(html);
  parser.end();
  return reader.end();
}

/** Collects pieces while elements open and close. It keeps its own stack, so that depth costs no calls. */
class HtmlReader {
  private readonly stack: Element[] = [];
  private readonly outputs: Piece[][] = [[]];
  private readonly tables: OpenTable[] = [];
  private readonly lists: { readonly ordered: boolean; next: number }[] = [];
  private runs: Run[] = [];
  private label: Label | null = null;
  private preDepth = 0;
  private elements = 0;
  private hasHidden = false;

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.elements += 1;
    if (this.elements > ELEMENTS_MAX) throw new RefusedDocument('The document has too many elements.');
    if (this.stack.length >= DEPTH_MAX) throw new RefusedDocument('The document is nested too deeply.');
    const element = this.elementOf(name, attributes);
    if (!element.isHidden) this.begin(element, attributes);
    this.stack.push(element);
  }

  private elementOf(name: string, attributes: Readonly<Record<string, string>>): Element {
    const parent = this.top();
    const style = styleOf(attributes);
    const whiteOnWhite = style.white && !style.background && !parent.hasBackground;
    return {
      name,
      look: lookOf(parent.look, { name, attributes, style }),
      isHidden: [parent.isHidden, style.isHidden, whiteOnWhite, UNSEEN.has(name)].includes(true),
      hasBackground: parent.hasBackground || style.background,
      role: this.roleOf(name, parent.role),
      cell: name === 'td' || name === 'th' ? cellSpans(attributes) : null,
    };
  }

  text(text: string): void {
    const { isHidden, look } = this.top();
    if (isHidden) {
      this.hasHidden ||= text.trim() !== '' && !this.stack.some((element) => UNSEEN.has(element.name));
      return;
    }
    const shown = this.preDepth > 0 ? text : this.collapsed(text);
    if (shown !== '') this.runs.push({ ...look, text: shown, note: null });
  }

  close(name: string): void {
    const element = this.stack.pop();
    if (element === undefined || element.isHidden) return;
    this.finish(element, name);
  }

  end(): HtmlPieces {
    this.flush(ROOT.role);
    while (this.tables.length > 0) this.closeTable();
    return { pieces: this.outputs.flat(), hasHidden: this.hasHidden };
  }

  private top(): Element {
    return this.stack.at(-1) ?? ROOT;
  }

  private roleOf(name: string, parent: Role): Role {
    const [, level] = /^h([1-6])$/.exec(name) ?? [];
    if (level !== undefined) return { kind: 'heading', level: Number(level) };
    if (name === 'pre') return { kind: 'code' };
    if (name === 'li') return { kind: 'list_item', level: Math.max(0, this.lists.length - 1) };
    return name === 'td' || name === 'th' ? ROOT.role : parent;
  }

  /** White space is one blank, and none where a line begins. */
  private collapsed(text: string): string {
    const one = text.replace(/[\s\u00ad]+/g, ' ').replace(/\u200b/g, '');
    const before = this.runs.at(-1)?.text ?? ' ';
    return /\s$/.test(before) ? one.replace(/^ /, '') : one;
  }

  private begin(element: Element, attributes: Readonly<Record<string, string>>): void {
    const { name, look } = element;
    if (isBlock(name)) this.flush(this.top().role);
    switch (name) {
      case 'br':
        return void this.runs.push({ ...look, text: '\n', note: null });
      case 'img': {
        this.image(attributes['alt'], look);
        return;
      }
      case 'ul':
      case 'ol':
        this.beginList(name, attributes['start']);
        return;
      case 'li':
        this.label = this.nextLabel();
        return;
      case 'pre':
        this.preDepth += 1;
        return;
      case 'input': {
        this.checkbox(attributes);
        return;
      }
      default:
        this.beginInTable(element);
    }
  }

  private beginList(name: 'ul' | 'ol', start = '1'): void {
    this.lists.push({ ordered: name === 'ol', next: Number(start) || 1 });
  }

  private checkbox(attributes: Readonly<Record<string, string>>): void {
    if (attributes['type']?.toLowerCase() !== 'checkbox') return;
    this.runs.push({ ...PLAIN, text: attributes['checked'] === undefined ? '☐ ' : '☒ ', note: null });
  }

  private beginInTable({ name, cell }: Element): void {
    if (name === 'table') this.tables.push({ rows: [] });
    else if (name === 'tr') this.tables.at(-1)?.rows.push({ cells: [], isHeader: true });
    else if (cell !== null && this.tables.length > 0) this.outputs.push([]);
  }

  private image(alt: string | undefined, look: Look): void {
    const text = (alt ?? '').trim();
    if (text !== '') this.runs.push({ ...look, text: this.collapsed(`${text} `), note: null });
  }

  private nextLabel(): Label {
    const list = this.lists.at(-1);
    if (list?.ordered !== true) return { number: null, text: '' };
    list.next += 1;
    return { number: list.next - 1, text: `${list.next - 1}.` };
  }

  private finish(element: Element, name: string): void {
    if (isBlock(name)) this.flush(element.role);
    if (name === 'ul' || name === 'ol') this.lists.pop();
    else if (name === 'pre') this.preDepth -= 1;
    else if (name === 'table') this.closeTable();
    else if (element.cell !== null) this.closeCell(element);
  }

  private closeCell({ name, cell }: Element): void {
    const table = this.tables.at(-1);
    const pieces = this.outputs.length > 1 ? this.outputs.pop() : undefined;
    if (table === undefined || pieces === undefined || cell === null) return;
    if (table.rows.length === 0) table.rows.push({ cells: [], isHeader: true });
    const row = table.rows.at(-1);
    row?.cells.push({ ...cell, pieces });
    if (row !== undefined && name !== 'th') row.isHeader = false;
  }

  private closeTable(): void {
    const table = this.tables.pop();
    if (table !== undefined) this.outputs.at(-1)?.push(...closedTable(table));
  }

  private flush(role: Role): void {
    const { runs, label } = this;
    this.runs = [];
    if (runs.every(({ text }) => text.trim() === '')) return;
    const isItem = role.kind === 'list_item' && label !== null;
    const plain: Role = role.kind === 'list_item' ? { kind: 'paragraph' } : role;
    this.outputs
      .at(-1)
      ?.push({ kind: 'text', role: isItem ? role : plain, label: isItem ? label : null, runs });
    if (isItem) this.label = null;
  }
}

const isBlock = (name: string): boolean => BLOCKS.has(name) || /^(?:h[1-6]|li|pre|td|th)$/.test(name);

interface Opened {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly style: ElementStyle;
}

function lookOf(parent: Look, { name, attributes, style }: Opened): Look {
  const link = name === 'a' && attributes['href'] !== undefined ? linkOf(attributes['href']) : parent.link;
  return {
    bold: style.bold ?? (parent.bold || (BOLD.has(name) && name !== 'th')),
    italic: style.italic ?? (parent.italic || ITALIC.has(name)),
    strike: parent.strike || STRIKE.has(name),
    link,
  };
}
