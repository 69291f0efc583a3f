import { boxIn, times, type Matrix } from './matrices.ts';
import { isRef, nameIn, type PdfObjects } from './objects.ts';
import { matrixOf } from './operators.ts';
import type { InnerPage } from './pageTree.ts';
import type { PdfDict, PdfRef, PdfValue } from './syntax.ts';

/** What is drawn over pages, as a file of its own: `numbers` are the pages of the document that its pages are. */
export interface Appearances {
  readonly bytes: Buffer;
  readonly numbers: readonly number[];
}

/** More are made to do harm. */
const DRAWN_MAX = 200;
const OBJECTS_MAX = 4000;
const BYTES_MAX = 16 * 1024 * 1024;
const DEPTH_MAX = 40;

/**
 * The stamps that viewers draw on pages, with their fonts, drawn on empty pages of the same size:
 * the parser reads what pages draw, and not what is drawn over them. Of the `wanted` pages; undefined where there
 * are none.
 */
export function appearancesOf(
  pages: readonly InnerPage[],
  wanted: ReadonlySet<number>,
  objects: PdfObjects,
): Appearances | undefined {
  const found: { readonly number: number; readonly page: InnerPage; readonly drawn: readonly Drawn[] }[] = [];
  let left = DRAWN_MAX;
  for (const [index, page] of pages.entries()) {
    if (!wanted.has(index + 1)) continue;
    const drawn = drawnOver(page, objects).slice(0, left);
    left -= drawn.length;
    if (drawn.length > 0) found.push({ number: index + 1, page, drawn });
  }
  if (found.length === 0) return undefined;
  const copy = new Copy(objects);
  const kids = found.map(({ page, drawn }) => copy.page(page, drawn));
  return { bytes: copy.file(kids), numbers: found.map(({ number }) => number) };
}

interface Drawn {
  readonly form: PdfRef;
  /** Where it is drawn, in the space of its page. */
  readonly matrix: Matrix;
}

const HIDDEN = 2;
const NO_VIEW = 32;

function drawnOver({ dict }: InnerPage, objects: PdfObjects): readonly Drawn[] {
  return (objects.list(dict.entries.get('Annots'))?.items ?? []).flatMap((item) => {
    const note = objects.dict(item);
    if (note === undefined || !isStamp(note, objects)) return [];
    const flags = objects.get(note.entries.get('F'));
    if (typeof flags === 'number' && (flags & (HIDDEN | NO_VIEW)) !== 0) return [];
    const form = objects.dict(note.entries.get('AP'))?.entries.get('N');
    const matrix = isRef(form) ? placeOf(note, objects.dict(form), objects) : undefined;
    return isRef(form) && matrix !== undefined ? [{ form, matrix }] : [];
  });
}

/** What forms hold, signatures among it, the parser reads itself. */
const isStamp = ({ entries }: PdfDict, objects: PdfObjects): boolean =>
  nameIn(objects.get(entries.get('Subtype'))) === 'Stamp';

/** The box of a form, as its own matrix turns it, is drawn as large as the note's (ISO 32000, 12.5.5). */
function placeOf(note: PdfDict, form: PdfDict | undefined, objects: PdfObjects): Matrix | undefined {
  const to = boxAt(note, 'Rect', objects);
  const box = boxAt(form, 'BBox', objects);
  if (to === undefined || box === undefined) return undefined;
  const from = boxIn(matrixOf(objects.list(form?.entries.get('Matrix'))?.items ?? []), box);
  const [width, height] = [from[2] - from[0], from[3] - from[1]];
  if (Math.min(width, height, to[2] - to[0], to[3] - to[1]) <= 0) return undefined;
  const [x, y] = [(to[2] - to[0]) / width, (to[3] - to[1]) / height];
  return times([x, 0, 0, y, 0, 0], [1, 0, 0, 1, to[0] - from[0] * x, to[1] - from[1] * y]);
}

function boxAt(dict: PdfDict | undefined, key: string, objects: PdfObjects) {
  const numbers = (objects.list(dict?.entries.get(key))?.items ?? []).map((item) => objects.get(item));
  const [a, b, c, d] = numbers;
  if (typeof a !== 'number' || typeof b !== 'number' || typeof c !== 'number' || typeof d !== 'number')
    return undefined;
  return [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)] as const;
}

/** Written anew, or of the whole document. */
const LEFT_OUT = new Set(['Filter', 'DecodeParms', 'Length', 'Parent', 'P', 'Metadata', 'PieceInfo', 'OC']);

/** Objects copied from a file to another one, under new numbers, as far as they are drawn. */
class Copy {
  readonly #objects: PdfObjects;
  readonly #written: (Buffer | undefined)[] = [undefined, undefined];
  readonly #numbers = new Map<number, number>();
  #left = BYTES_MAX;

  constructor(objects: PdfObjects) {
    this.#objects = objects;
  }

  /** The number of a page that draws these alone. */
  page({ box, rotation }: InnerPage, drawn: readonly Drawn[]): number {
    const forms = drawn.map(({ form }, index) => `/S${index} ${this.#reference(form, 0)}`).join(' ');
    const content = drawn.map(({ matrix }, index) => `q ${matrix.join(' ')} cm /S${index} Do Q`).join('\n');
    const contents = this.#add(streamOf('', Buffer.from(content)));
    return this.#add(
      Buffer.from(
        `<< /Type /Page /Parent 2 0 R /MediaBox [${box.join(' ')}] /Rotate ${rotation} ` +
          `/Resources << /XObject << ${forms} >> >> /Contents ${contents} 0 R >>`,
      ),
    );
  }

  /** The file of these pages; the first two objects are its catalog and their list. */
  file(pages: readonly number[]): Buffer {
    this.#written[0] = Buffer.from('<< /Type /Catalog /Pages 2 0 R >>');
    const kids = pages.map((number) => `${number} 0 R`).join(' ');
    this.#written[1] = Buffer.from(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
    const parts = [Buffer.from('%PDF-1.7\n')];
    const places: number[] = [];
    let length = parts[0]?.length ?? 0;
    for (const [index, body] of this.#written.entries()) {
      const part = Buffer.concat([
        Buffer.from(`${index + 1} 0 obj\n`),
        body ?? NOTHING,
        Buffer.from('\nendobj\n'),
      ]);
      places.push(length);
      length += part.length;
      parts.push(part);
    }
    const rows = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
    const size = places.length + 1;
    const end =
      `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} /Root 1 0 R >>\n` +
      `startxref\n${length}\n%%EOF\n`;
    return Buffer.concat([...parts, Buffer.from(end)]);
  }

  #add(body: Buffer): number {
    this.#left -= body.length;
    return this.#written.push(body);
  }

  /** Objects are copied once; what leads back to one that is being copied is left out, for drawing it has no end. */
  #reference({ number }: PdfRef, depth: number): string {
    const known = this.#numbers.get(number);
    if (known !== undefined) return this.#written[known - 1] === undefined ? 'null' : `${known} 0 R`;
    if (this.#written.length >= OBJECTS_MAX || this.#left <= 0 || depth > DEPTH_MAX) return 'null';
    const own = this.#written.push(undefined);
    this.#numbers.set(number, own);
    const body = this.#body({ kind: 'ref', number }, depth);
    this.#left -= body.length;
    this.#written[own - 1] = body;
    return `${own} 0 R`;
  }

  /** A picture is drawn as nothing. */
  #body(ref: PdfRef, depth: number): Buffer {
    const value = this.#objects.get(ref);
    const dict = this.#objects.dict(ref);
    if (dict?.entries.has('Length') !== true) return Buffer.from(this.#text(value ?? null, depth));
    if (nameIn(this.#objects.get(dict.entries.get('Subtype'))) === 'Image') return EMPTY_FORM;
    return streamOf(this.#entries(dict, depth), this.#objects.stream(ref)?.bytes ?? NOTHING);
  }

  #entries({ entries }: PdfDict, depth: number): string {
    return [...entries]
      .filter(([key]) => !LEFT_OUT.has(key))
      .map(([key, value]) => `${nameText(key)} ${this.#text(value, depth + 1)}`)
      .join(' ');
  }

  #text(value: PdfValue, depth: number): string {
    if (typeof value !== 'object') return String(value);
    if (value === null || depth > DEPTH_MAX || value.kind === 'word') return 'null';
    if (value.kind === 'name') return nameText(value.name);
    if (value.kind === 'text') return `<${Buffer.from(value.bytes).toString('hex')}>`;
    if (value.kind === 'ref') return this.#reference(value, depth + 1);
    return value.kind === 'dict'
      ? `<< ${this.#entries(value, depth)} >>`
      : `[${value.items.map((item) => this.#text(item, depth + 1)).join(' ')}]`;
  }
}

const NOTHING = Buffer.alloc(0);

const nameText = (name: string): string =>
  `/${name.replace(
    /[^!-~]|[#()<>[\]{}/%]/g,
    (sign) => `#${(sign.charCodeAt(0) & 255).toString(16).padStart(2, '0')}`,
  )}`;

const streamOf = (entries: string, bytes: Uint8Array): Buffer =>
  Buffer.concat([
    Buffer.from(`<< ${entries} /Length ${bytes.length} >>\nstream\n`, 'latin1'),
    bytes,
    Buffer.from('\nendstream'),
  ]);

const EMPTY_FORM = streamOf('/Type /XObject /Subtype /Form /BBox [0 0 1 1]', NOTHING);
