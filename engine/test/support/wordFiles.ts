const SECTOR = 512;
const END = 0xfffffffe;
const FREE = 0xffffffff;
const FAT = 0xfffffffd;

/** A compound file of streams, each long enough to have sectors of its own. */
export function compoundFile(streams: Readonly<Record<string, Buffer>>): Buffer {
  const padded = Object.entries(streams).map(([name, bytes]) => ({
    name,
    bytes: Buffer.concat([
      bytes,
      Buffer.alloc(Math.max(4096, Math.ceil(bytes.length / SECTOR) * SECTOR) - bytes.length),
    ]),
  }));
  const table = [FAT, END];
  const directory = [entry('Root Entry', 5, { start: END, size: 0 })];
  for (const { name, bytes } of padded) {
    const start = table.length;
    const sectors = bytes.length / SECTOR;
    for (let sector = 1; sector < sectors; sector += 1) table.push(start + sector);
    table.push(END);
    directory.push(entry(name, 2, { start, size: bytes.length }));
  }
  const header = Buffer.alloc(SECTOR);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(header);
  header.writeUInt16LE(9, 0x1e);
  header.writeUInt32LE(1, 0x2c);
  header.writeUInt32LE(1, 0x30);
  header.writeUInt32LE(4096, 0x38);
  header.writeUInt32LE(END, 0x3c);
  header.writeUInt32LE(END, 0x44);
  for (let at = 0x4c; at < SECTOR; at += 4) header.writeUInt32LE(at === 0x4c ? 0 : FREE, at);
  while (table.length < SECTOR / 4) table.push(FREE);
  return Buffer.concat([
    header,
    words(table),
    sectorOf(Buffer.concat(directory)),
    ...padded.map(({ bytes }) => bytes),
  ]);
}

function entry(name: string, type: number, place: { readonly start: number; readonly size: number }): Buffer {
  const bytes = Buffer.alloc(128);
  bytes.write(name, 'utf16le');
  bytes.writeUInt16LE((name.length + 1) * 2, 0x40);
  bytes.writeUInt8(type, 0x42);
  bytes.writeUInt32LE(place.start, 0x74);
  bytes.writeUInt32LE(place.size, 0x78);
  return bytes;
}

const words = (numbers: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(numbers.length * 4);
  numbers.forEach((number, index) => bytes.writeUInt32LE(number >>> 0, index * 4));
  return bytes;
};
const sectorOf = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc(SECTOR - bytes.length)]);
const short = (number: number): readonly number[] => [number & 0xff, (number >> 8) & 0xff];

export interface WordRun {
  readonly text: string;
  /** Bytes of its property modifiers. */
  readonly modifiers?: readonly number[];
}

export interface WordParagraph {
  readonly runs: readonly WordRun[];
  readonly mark?: '\r' | '\u0007';
  readonly style?: number;
  readonly modifiers?: readonly number[];
}

export interface WordStyle {
  readonly name: string;
  readonly builtIn?: number;
  readonly base?: number;
  readonly modifiers?: readonly number[];
}

export interface WordContent {
  readonly paragraphs: readonly WordParagraph[];
  readonly styles?: readonly WordStyle[];
  /** Footnotes, one for each `\u0002` in the text. */
  readonly notes?: readonly string[];
  /**
   * Headers and footers of the only section, those that it has: of even pages, odd ones (footers after headers),
   * then of the first.
   */
  readonly letterheads?: Letterheads;
  /** What characters of its text point to. */
  readonly data?: Buffer;
  /** The level texts of one list: `\u0000` stands for the number. */
  readonly list?: string;
  /** Of the header's flags; 0x0200 says that the tables are in `1Table`. */
  readonly flags?: number;
  readonly version?: number;
}

export interface Letterheads {
  readonly evenHeader?: string;
  readonly header?: string;
  readonly evenFooter?: string;
  readonly footer?: string;
  readonly firstHeader?: string;
  readonly firstFooter?: string;
}

const TEXT_AT = 0x800;
const PARAGRAPHS_PAGE = 12;
const CHARACTERS_PAGE = 13;

/** A Word 97 file: header, text, one page of paragraph and one of character properties, and tables. */
export function wordFile(content: WordContent): Buffer {
  const { paragraphs, notes = [] } = content;
  const body = paragraphs
    .map(({ runs, mark = '\r' }) => runs.map(({ text }) => text).join('') + mark)
    .join('');
  const story = notes.length === 0 ? '' : `${notes.map((note) => `\u0002 ${note}\r`).join('')}\r`;
  const heads = letterheadTexts(content.letterheads);
  const whole = body + story + heads.join('');
  const main = Buffer.alloc(15 * SECTOR);
  main.writeUInt16LE(0xa5ec, 0);
  main.writeUInt16LE(content.version ?? 0xc1, 2);
  main.writeUInt16LE(content.flags ?? 0x0200, 0x0a);
  main.writeUInt32LE(body.length, 0x4c);
  main.writeUInt32LE(story.length, 0x50);
  main.writeUInt32LE(heads.join('').length, 0x54);
  main.write(whole, TEXT_AT, 'utf16le');
  paragraphPage(content.paragraphs).copy(main, PARAGRAPHS_PAGE * SECTOR);
  characterPage(content.paragraphs).copy(main, CHARACTERS_PAGE * SECTOR);
  const end = TEXT_AT + whole.length * 2;
  const tables: readonly (readonly [number, Buffer])[] = [
    [1, styleSheet(content.styles ?? [{ name: 'Normal' }])],
    [12, words([TEXT_AT, end, CHARACTERS_PAGE])],
    [13, words([TEXT_AT, end, PARAGRAPHS_PAGE])],
    [33, Buffer.concat([Buffer.from([2]), words([16]), words([0, whole.length]), pieceAt(TEXT_AT)])],
    ...noteTables(body, notes),
    ...(content.letterheads === undefined ? [] : letterheadTables(main, content.letterheads, body.length)),
    ...(content.list === undefined ? [] : listTables(content.list)),
  ];
  let at = 0;
  for (const [index, bytes] of tables) {
    main.writeUInt32LE(at, 0x9a + index * 8);
    main.writeUInt32LE(bytes.length, 0x9a + index * 8 + 4);
    at += bytes.length;
  }
  return compoundFile({
    WordDocument: main,
    '1Table': Buffer.concat(tables.map(([, bytes]) => bytes)),
    ...(content.data === undefined ? {} : { Data: content.data }),
  });
}

/** The separators of notes come first, and a paragraph mark last. */
const letterheadTexts = (heads: Letterheads | undefined): readonly string[] =>
  heads === undefined
    ? []
    : [
        ...Array<string>(6).fill(''),
        ...[
          heads.evenHeader,
          heads.header,
          heads.evenFooter,
          heads.footer,
          heads.firstHeader,
          heads.firstFooter,
        ].map((text) => (text === undefined ? '' : `${text}\r\r`)),
        '\r',
      ];

const SECTION_PROPERTIES_AT = 14 * SECTOR;

/** Where each text begins; the section, with its first page; that there are facing pages. */
function letterheadTables(
  main: Buffer,
  heads: Letterheads,
  characters: number,
): readonly (readonly [number, Buffer])[] {
  const texts = letterheadTexts(heads);
  const places = texts.map((_, index) => texts.slice(0, index).join('').length);
  const hasFirst = heads.firstHeader !== undefined || heads.firstFooter !== undefined;
  Buffer.from([...short(3), 0x0a, 0x30, hasFirst ? 1 : 0]).copy(main, SECTION_PROPERTIES_AT);
  const section = Buffer.alloc(12);
  section.writeUInt32LE(SECTION_PROPERTIES_AT, 2);
  const facing = heads.evenHeader !== undefined || heads.evenFooter !== undefined ? 1 : 0;
  return [
    [6, Buffer.concat([words([0, characters]), section])],
    [11, words([...places, texts.join('').length])],
    [31, Buffer.from([facing, 0])],
  ];
}

const pieceAt = (fc: number): Buffer => Buffer.concat([Buffer.alloc(2), words([fc]), Buffer.alloc(2)]);

function paragraphPage(paragraphs: readonly WordParagraph[]): Buffer {
  const page = Buffer.alloc(SECTOR);
  let fc = TEXT_AT;
  let free = SECTOR - 2;
  page.writeUInt32LE(fc, 0);
  for (const [index, { runs, style = 0, modifiers = [] }] of paragraphs.entries()) {
    const bytes = [...short(style), ...modifiers, ...(modifiers.length % 2 === 0 ? [] : [0])];
    free -= bytes.length + 2;
    Buffer.from([0, bytes.length / 2, ...bytes]).copy(page, free);
    fc += (runs.reduce((sum, { text }) => sum + text.length, 0) + 1) * 2;
    page.writeUInt32LE(fc, (index + 1) * 4);
    page.writeUInt8(free / 2, (paragraphs.length + 1) * 4 + index * 13);
  }
  page.writeUInt8(paragraphs.length, SECTOR - 1);
  return page;
}

function characterPage(paragraphs: readonly WordParagraph[]): Buffer {
  const runs = paragraphs.flatMap((paragraph) => [...paragraph.runs, { text: '\r' }] as readonly WordRun[]);
  const page = Buffer.alloc(SECTOR);
  let fc = TEXT_AT;
  let free = SECTOR - 2;
  page.writeUInt32LE(fc, 0);
  for (const [index, { text, modifiers = [] }] of runs.entries()) {
    fc += text.length * 2;
    page.writeUInt32LE(fc, (index + 1) * 4);
    if (modifiers.length === 0) continue;
    free -= 2 * Math.ceil((modifiers.length + 1) / 2);
    Buffer.from([modifiers.length, ...modifiers]).copy(page, free);
    page.writeUInt8(free / 2, (runs.length + 1) * 4 + index);
  }
  page.writeUInt8(runs.length, SECTOR - 1);
  return page;
}

function styleSheet(styles: readonly WordStyle[]): Buffer {
  const header = [...short(4), ...short(styles.length), ...short(10)];
  const entries = styles.map(({ name, builtIn = 0xffe, base = 0xfff, modifiers = [] }, index) => {
    const bytes = [
      ...short(builtIn),
      ...short((base << 4) | 1),
      0,
      0,
      0,
      0,
      0,
      0,
      ...short(name.length),
      ...Buffer.from(`${name}\0`, 'utf16le'),
      ...short(modifiers.length + 2),
      ...short(index),
      ...modifiers,
    ];
    return [...short(bytes.length), ...bytes];
  });
  return Buffer.from([...header, ...entries.flat()]);
}

function noteTables(body: string, notes: readonly string[]): readonly (readonly [number, Buffer])[] {
  if (notes.length === 0) return [];
  const marks = [...body.matchAll(/\u0002/g)].map(({ index }) => index);
  const starts = notes.map((_, index) =>
    notes.slice(0, index).reduce((sum, note) => sum + note.length + 3, 0),
  );
  const end = notes.reduce((sum, note) => sum + note.length + 3, 0);
  return [
    [2, Buffer.concat([words([...marks, body.length]), Buffer.alloc(marks.length * 2)])],
    [3, words([...starts, end, end + 1])],
  ];
}

/** One list of one decimal level, and one reference to it. */
function listTables(text: string): readonly (readonly [number, Buffer])[] {
  const list = Buffer.alloc(28);
  list.writeInt32LE(77, 0);
  list.writeUInt8(1, 26);
  const level = Buffer.alloc(28);
  level.writeInt32LE(1, 0);
  const reference = Buffer.alloc(16);
  reference.writeInt32LE(77, 0);
  const levelText = Buffer.from([...short(text.length), ...Buffer.from(text, 'utf16le')]);
  return [
    [73, Buffer.concat([Buffer.from(short(1)), list, level, levelText])],
    [74, Buffer.concat([words([1]), reference, words([FREE])])],
  ];
}
