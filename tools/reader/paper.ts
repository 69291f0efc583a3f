import type { Box } from '../../engine/document/document.ts';
import type { AsideText, PageContent, PlacedWord, Rule } from '../../engine/layout/content.ts';
import type { Random } from './random.ts';

/** How text looks; `isLabel`: a scan may have misread it. */
export interface Look {
  readonly size?: number;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly isLabel?: boolean;
}

/** The look of one document as a whole. */
export interface Style {
  readonly width: number;
  readonly height: number;
  readonly margin: number;
  /** Points. */
  readonly size: number;
  /** Of the size: from one line to the next. */
  readonly leading: number;
  readonly face: 'sans' | 'serif' | 'mono';
  /** Of the size: how high the box of a word is. */
  readonly rise: number;
  readonly isScan: boolean;
  /** Share of the words of labels that a scan misreads. */
  readonly noise: number;
}

export function styleOf(random: Random): Style {
  const [width, height] = random.pick([
    [595, 842],
    [612, 792],
  ] as const);
  const isScan = random.chance(0.15);
  return {
    width,
    height,
    margin: random.int(34, 72),
    size: random.pick([8, 8.5, 9, 9, 10, 10, 10, 11, 11, 12]),
    leading: random.pick([1.15, 1.2, 1.25, 1.3, 1.45]),
    face: random.pick(['sans', 'sans', 'sans', 'serif', 'serif', 'mono']),
    rise: random.pick([0.86, 0.92, 1, 1.13]),
    isScan,
    noise: isScan ? random.pick([0.02, 0.05, 0.1]) : 0,
  };
}

/** Marks around a value within prose: what stands between them is never misread. */
export const OPEN = '\uE000';
export const CLOSE = '\uE001';

const FACES = { sans: 'Helvetica', serif: 'Times-Roman', mono: 'Courier' } as const;
const CLASSES: readonly (readonly [RegExp, number])[] = [
  [/[ijl'|.,:;!·]/, 0.25],
  [/[ftr()[\]/\- "“”]/, 0.32],
  [/[mwMW%@—☐☒]/, 0.85],
  [/[\p{Lu}&]/u, 0.68],
];
const WIDTHS = new Map<string, number>();

function letterWidth(letter: string): number {
  const known = WIDTHS.get(letter);
  if (known !== undefined) return known;
  const width = CLASSES.find(([form]) => form.test(letter))?.[1] ?? 0.545;
  WIDTHS.set(letter, width);
  return width;
}

const MISREAD: Readonly<Record<string, string>> = {
  o: '0',
  O: '0',
  l: '1',
  I: 'l',
  S: '5',
  B: '8',
  e: 'c',
  m: 'rn',
  u: 'ii',
  g: 'q',
  '.': ',',
  ':': '.',
  t: 'f',
  é: 'e',
  ü: 'u',
};

interface Sheet {
  readonly words: PlacedWord[];
  readonly rules: Rule[];
  readonly aside: AsideText[];
}

/** Pages that are written on: words with their places, lines, what stands along edges. Units are points. */
export class Paper {
  readonly style: Style;
  /** Where the next line goes: its top. */
  y: number;
  private readonly random: Random;
  private readonly sheets: Sheet[] = [];
  private sheet: Sheet;
  /** Drawn when a page begins, such as the head of a table that goes on. */
  onTurn: (() => void) | undefined;

  constructor(style: Style, random: Random) {
    this.style = style;
    this.random = random;
    this.sheet = this.opened();
    this.y = style.margin;
  }

  get left(): number {
    return this.style.margin;
  }

  get right(): number {
    return this.style.width - this.style.margin;
  }

  get size(): number {
    return this.style.size;
  }

  get step(): number {
    return this.size * this.style.leading;
  }

  get pages(): number {
    return this.sheets.length;
  }

  private opened(): Sheet {
    const sheet: Sheet = { words: [], rules: [], aside: [] };
    this.sheets.push(sheet);
    return sheet;
  }

  /** A new page where less than so much is left; says whether there was one. */
  room(height: number): boolean {
    if (this.y + height <= this.style.height - this.style.margin) return false;
    this.turn();
    return true;
  }

  turn(): void {
    this.sheet = this.opened();
    this.y = this.style.margin;
    this.onTurn?.();
  }

  widthOf(text: string, { size = this.size, bold = false }: Look = {}): number {
    if (this.style.face === 'mono') return 0.6 * size * Array.from(text).length;
    let width = 0;
    for (const letter of text) if (letter !== OPEN && letter !== CLOSE) width += letterWidth(letter);
    return width * size * (this.style.face === 'serif' ? 0.92 : 1) * (bold ? 1.06 : 1);
  }

  /** Writes a text on one line and returns where it ends. */
  write(x: number, y: number, ...[text, look = {}]: readonly [text: string, look?: Look]): number {
    const { size = this.size } = look;
    const space = this.widthOf(' ', look);
    let at = x;
    let isValue = false;
    for (const raw of text.split(' ')) {
      if (raw.includes(OPEN)) isValue = true;
      const bare = raw.replace(/[\uE000\uE001]/g, '');
      if (bare !== '') {
        const end = at + this.widthOf(bare, look);
        this.place(
          isValue || look.isLabel === false ? bare : this.misread(bare),
          [at, y, end, y + size],
          look,
        );
        at = end;
      }
      if (raw.includes(CLOSE)) isValue = false;
      at += space;
    }
    return at - space;
  }

  private place(text: string, [x0, y0, x1, y1]: Box, look: Look): void {
    const { rise, isScan } = this.style;
    const shake = isScan ? this.random.next() * 0.8 - 0.4 : 0;
    const top = y0 + (y1 - y0) * (1 - rise) * 0.5 + shake;
    const box: Box = [round(x0), round(top), round(x1), round(top + (y1 - y0) * rise)];
    this.sheet.words.push(isScan ? this.recognised(text, box) : this.printed(text, box, look));
  }

  private printed(text: string, box: Box, look: Look): PlacedWord {
    const { size = this.size, bold = false, italic = false } = look;
    const { face } = this.style;
    const name = FACES[face] + (bold ? '-Bold' : '');
    return { text, box, size, bold, italic, mono: face === 'mono', face: name, link: null, confidence: 1 };
  }

  /** A word of a scan: its size is told by its box, its weight by nothing. */
  private recognised(text: string, box: Box): PlacedWord {
    const confidence = round(0.72 + 0.28 * this.random.next());
    const plain = { bold: false, italic: false, mono: false, link: null };
    return { text, box, size: round(box[3] - box[1]), ...plain, confidence, readBy: 'tesseract' };
  }

  private misread(word: string): string {
    if (this.style.noise === 0 || !this.random.chance(this.style.noise)) return word;
    const at = Array.from(word).findIndex((letter) => letter in MISREAD);
    return at < 0 ? word : word.slice(0, at) + (MISREAD[word[at] ?? ''] ?? '') + word.slice(at + 1);
  }

  /** A text as the lines that it takes within a width. */
  lines(text: string, width: number, look: Look = {}): readonly string[] {
    const lines: string[] = [];
    let line = '';
    for (const word of text.split(' ')) {
      const next = line === '' ? word : `${line} ${word}`;
      if (line !== '' && this.widthOf(next, look) > width) {
        lines.push(line);
        line = word;
      } else line = next;
    }
    return line === '' ? lines : [...lines, line];
  }

  /** Prose from the place where the next line goes; `OPEN` and `CLOSE` stay around values over lines. */
  prose(
    text: string,
    { from = this.left, to = this.right, ...look }: Look & { from?: number; to?: number } = {},
  ): void {
    const { size = this.size } = look;
    let isValue = false;
    for (const line of this.lines(text, to - from, look)) {
      this.room(size);
      this.write(from, this.y, isValue ? OPEN + line : line, look);
      isValue = line.lastIndexOf(OPEN) > line.lastIndexOf(CLOSE) || (isValue && !line.includes(CLOSE));
      this.y += size * this.style.leading;
    }
  }

  rule(...[x0, y0, x1, y1]: Box): void {
    this.sheet.rules.push([round(x0), round(y0), round(x1), round(y1)]);
  }

  frame([x0, y0, x1, y1]: Box): void {
    this.rule(x0, y0, x1, y0);
    this.rule(x0, y1, x1, y1);
    this.rule(x0, y0, x0, y1);
    this.rule(x1, y0, x1, y1);
  }

  /** A text along an edge, turned by a quarter. */
  along(text: string): void {
    const y = this.style.height * 0.4;
    this.sheet.aside.push({ text, box: [8, y, 18, y + this.widthOf(text)] });
  }

  /** Words on every page at a height: `{p}` and `{n}` become the page and how many there are. */
  furnish(y: number, text: string, place: 'left' | 'middle' | 'right'): void {
    const look = { size: this.size * 0.85 };
    const last = this.sheet;
    for (const [index, sheet] of this.sheets.entries()) {
      this.sheet = sheet;
      const shown = text.replace('{p}', String(index + 1)).replace('{n}', String(this.sheets.length));
      const width = this.widthOf(shown, look);
      const x = { left: this.left, middle: (this.style.width - width) / 2, right: this.right - width }[place];
      this.write(x, y, shown, look);
    }
    this.sheet = last;
  }

  /** What the pages show, as parsers hand it to the layout. */
  contents(): readonly PageContent[] {
    const { width, height } = this.style;
    return this.sheets.map(({ words, rules, aside }) => ({ width, height, words, rules, aside }));
  }
}

const round = (value: number): number => Math.round(value * 100) / 100;
