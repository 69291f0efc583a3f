import { Parser } from 'htmlparser2';
import {
  RefusedDocument,
  COLUMNS_MAX,
  spanOf,
  tablePieces,
  blocksOf,
  HIDDEN_TEXT,
  type Piece,
  type Slot,
  type SourceCell,
  type Label,
  type Role,
} from '../pieces/blocks.ts';
import { linkOf, PLAIN, type Look, type Run } from '../pieces/runs.ts';
import type { DocumentWarning } from '../../document/document.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import { openFlow } from '../pieces/flow.ts';
import type { OpenedDocument, SourceFile } from '../pieces/opened.ts';

/** What the inline style and the attributes of an element say of its text. */
interface ElementStyle {
  readonly isHidden: boolean;
  readonly bold: boolean | null;
  readonly italic: boolean | null;
  /** Whether the element says what is behind its text. */
  readonly background: boolean;
  /** Whether its text is white. */
  readonly white: boolean;
}

const HIDES = new RegExp(
  String.raw`(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0` +
    String.raw`(?:\.0+)?(?:px|pt|em|rem|%)?\s*(?:;|!|$)|opacity\s*:\s*0(?:\.0+)?\s*(?:;|!|$)` +
    String.raw`|mso-hide\s*:\s*all)`,
  'i',
);
const TINY = /(?:^|;)\s*font-size\s*:\s*(?:0?\.\d+|1(?:\.\d+)?)p[xt]/i;
const WHITE =
  /(?:^|;)\s*color\s*:\s*(?:#fff(?:fff)?|white|rgb\(\s*255\s*,\s*255\s*,\s*255\s*\)|transparent)\s*(?:;|!|$)/i;

/** Reads what hides and what emphasises; sheets of styles are not looked at. */
function styleOf(attributes: Readonly<Record<string, string>>): ElementStyle {
  const style = attributes['style'] ?? '';
  const weight = wordOf(style, /font-weight\s*:\s*(\w+)/i);
  const slant = wordOf(style, /font-style\s*:\s*(\w+)/i);
  return {
    isHidden: attributes['hidden'] !== undefined || HIDES.test(style) || TINY.test(style),
    bold: weight === null ? null : /^(?:bold|bolder|[6-9]00)$/.test(weight),
    italic: slant === null ? null : slant !== 'normal',
    background: /background/i.test(style) || attributes['bgcolor'] !== undefined,
    white: WHITE.test(style) || /^(?:#fff(?:fff)?|white)$/i.test(attributes['color'] ?? ''),
  };
}

const wordOf = (style: string, pattern: RegExp): string | null =>
  pattern.exec(style)?.[1]?.toLowerCase() ?? null;

/** A table while its rows come in. */
interface OpenTable {
  readonly rows: { readonly cells: SourceCell[]; isHeader: boolean }[];
}

/** What the attributes of a cell say of the places that it covers. */
const cellSpans = (
  attributes: Readonly<Record<string, string>>,
): Pick<SourceCell, 'columnSpan' | 'rowSpan'> => ({
  columnSpan: spanOf(Number(attributes['colspan'] ?? 1)),
  rowSpan: spanOf(Number(attributes['rowspan'] ?? 1)),
});

/** The table, or what stands in it where it is only used to place things. */
function closedTable({ rows }: OpenTable): readonly Piece[] {
  const filled = rows.filter(({ cells }) => cells.length > 0);
  const cells = filled.flatMap((row) => row.cells);
  const isOneColumn = filled.every((row) => row.cells.length < 2);
  if (isOneColumn || cells.some(isLayout)) return cells.flatMap(({ pieces }) => pieces);
  const headers = filled.findIndex(({ isHeader }) => !isHeader);
  return tablePieces(slotsOf(filled.map((row) => row.cells)), headers > 0 ? headers : null);
}

/** Cells of data hold no tables, headings and lists, and few paragraphs. */
const isLayout = ({ pieces }: SourceCell): boolean =>
  pieces.length > 12 ||
  pieces.some((piece) =>
    piece.kind === 'block' ? piece.block.kind === 'table' : piece.role.kind === 'heading',
  );

/** Cells at their columns: those that a cell above covers are gaps. */
function slotsOf(rows: readonly (readonly SourceCell[])[]): readonly (readonly Slot[])[] {
  let covered: number[] = [];
  return rows.map((cells) => {
    const slots: Slot[] = [];
    const next: number[] = covered.map((count) => Math.max(0, count - 1));
    let column = 0;
    const skip = (): void => {
      let columns = 0;
      while ((covered[column + columns] ?? 0) > 0) columns += 1;
      if (columns > 0) slots.push({ kind: 'gap', columns });
      column += columns;
    };
    for (const cell of cells) {
      skip();
      if (column + cell.columnSpan > COLUMNS_MAX)
        throw new RefusedDocument('The document has a table that is too large.');
      slots.push({ kind: 'cell', cell });
      for (let at = column; at < column + cell.columnSpan; at += 1) next[at] = cell.rowSpan - 1;
      column += cell.columnSpan;
    }
    skip();
    covered = Array.from(next, (count) => count);
    return slots;
  });
}

interface HtmlPieces {
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

/** Kinds of input whose value nobody sees, or sees as the name of a button. */
const BUTTONS = new Set('hidden submit button reset image password file'.split(' '));

/** A choice of a list. One without a value asks to choose. */
interface Option {
  text: string;
  readonly isChosen: boolean;
  readonly isPrompt: boolean;
}

const optionOf = ({ selected, value, disabled }: Readonly<Record<string, string>>): Option => ({
  text: '',
  isChosen: selected !== undefined,
  isPrompt: value?.trim() === '' || disabled !== undefined,
});

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
  /** Of the list of choices that is open. */
  private options: Option[] | null = null;
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
    const option = this.options?.at(-1);
    if (option !== undefined) option.text += text;
    if (this.options !== null) return;
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
    if (name === 'select') this.closeSelect(element.look);
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
      default:
        if (!this.beginField(element, attributes)) this.beginInTable(element);
    }
  }

  private beginList(name: 'ul' | 'ol', start = '1'): void {
    this.lists.push({ ordered: name === 'ol', next: Number(start) || 1 });
  }

  private beginField({ name, look }: Element, attributes: Readonly<Record<string, string>>): boolean {
    if (name === 'input') this.input(attributes, look);
    else if (name === 'select') this.options = [];
    else if (name === 'option') this.options?.push(optionOf(attributes));
    else return false;
    return true;
  }

  /** What a field holds; a hint in an empty one is no text. */
  private input({ type = 'text', value = '', checked }: Readonly<Record<string, string>>, look: Look): void {
    const kind = type.toLowerCase();
    if (kind === 'checkbox' || kind === 'radio')
      this.runs.push({ ...PLAIN, text: checked === undefined ? '☐ ' : '☒ ', note: null });
    else if (!BUTTONS.has(kind) && value.trim() !== '')
      this.runs.push({ ...look, text: this.collapsed(` ${value} `), note: null });
  }

  /** A list of choices shows the chosen ones, else its first. */
  private closeSelect(look: Look): void {
    const options = this.options ?? [];
    this.options = null;
    const chosen = options.filter(({ isChosen }) => isChosen);
    const shown = chosen.length > 0 ? chosen : options.slice(0, 1);
    const text = shown.filter(({ isPrompt }) => !isPrompt).map((option) => option.text.trim());
    if (text.length > 0)
      this.runs.push({ ...look, text: this.collapsed(` ${text.join(', ')} `), note: null });
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

/** Opens a page of HTML: what a reader sees of it, without its styles and scripts. */
export function openHtml({ text = '' }: SourceFile): Promise<OpenedDocument | ParseFailure> {
  try {
    const { pieces, hasHidden } = htmlPieces(text);
    const warnings: readonly DocumentWarning[] = hasHidden ? [HIDDEN_TEXT] : [];
    return Promise.resolve(openFlow({ mimeType: 'text/html', blocks: blocksOf(pieces), warnings }));
  } catch (error) {
    if (!(error instanceof RefusedDocument)) throw error;
    return Promise.resolve({ kind: 'unreadable', detail: error.message });
  }
}
