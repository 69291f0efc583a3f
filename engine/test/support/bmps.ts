/** A picture as rows of RGB, the top row first. */
export type Pixels = readonly (readonly (readonly [number, number, number])[])[];

export interface BmpOptions {
  readonly depth: 1 | 4 | 8 | 16 | 24 | 32;
  /** `BI_RGB` unless told. */
  readonly packing?: 'rle' | 'bit_fields';
  readonly topDown?: boolean;
  /** The header of OS/2, with palette entries of three bytes. */
  readonly core?: boolean;
}

const packingOf = (depth: number, packing: BmpOptions['packing']): number => {
  if (packing === 'bit_fields') return 3;
  if (packing === 'rle') return depth === 8 ? 1 : 2;
  return 0;
};

const paletteOf = (pixels: Pixels): readonly (readonly [number, number, number])[] => {
  const known = new Map(pixels.flat().map((pixel) => [pixel.join(), pixel] as const));
  return [...known.values()];
};

const packed = (indices: readonly number[], depth: number): number[] => {
  const perByte = 8 / depth;
  const bytes: number[] = [];
  indices.forEach((index, at) => {
    const shift = 8 - depth * ((at % perByte) + 1);
    const place = Math.floor(at / perByte);
    bytes[place] = (bytes[place] ?? 0) | (index << shift);
  });
  return bytes;
};

/** Runs of one colour, the end of the line, and at last the end of the picture. */
const runLengths = (indices: readonly number[], depth: number): number[] => {
  const bytes: number[] = [];
  for (let at = 0; at < indices.length;) {
    let to = at;
    while (to < indices.length && to - at < 255 && indices[to] === indices[at]) to += 1;
    const index = indices[at] ?? 0;
    bytes.push(to - at, depth === 4 ? (index << 4) | index : index);
    at = to;
  }
  return [...bytes, 0, 0];
};

const direct = (
  [r, g, b]: readonly [number, number, number],
  { depth, packing }: BmpOptions,
): readonly number[] => {
  if (depth === 24) return [b, g, r];
  if (depth === 32) return packing === 'bit_fields' ? [r, g, b, 0] : [b, g, r, 0];
  const value =
    packing === 'bit_fields'
      ? ((r >> 3) << 11) | ((g >> 2) << 5) | (b >> 3)
      : ((r >> 3) << 10) | ((g >> 3) << 5) | (b >> 3);
  return [value & 255, value >> 8];
};

const padded = (row: readonly number[]): readonly number[] => [
  ...row,
  ...new Array<number>((4 - (row.length % 4)) % 4).fill(0),
];

const masksOf = ({ depth, packing }: BmpOptions): Buffer => {
  if (packing !== 'bit_fields') return Buffer.alloc(0);
  const masks = Buffer.alloc(12);
  const values = depth === 16 ? [0xf800, 0x07e0, 0x001f] : [0x0000ff, 0x00ff00, 0xff0000];
  values.forEach((mask, at) => masks.writeUInt32LE(mask, 4 * at));
  return masks;
};

/** Writes a picture as BMP in one of the ways that there are. */
export const bmpOf = (pixels: Pixels, options: BmpOptions): Buffer => {
  const { depth, packing, topDown = false, core = false } = options;
  const palette = depth <= 8 ? paletteOf(pixels) : [];
  const known = new Map(palette.map((pixel, index) => [pixel.join(), index]));
  const rows = topDown ? pixels : [...pixels].reverse();
  const lines = rows.map((row) => {
    const indices = row.map((pixel) => known.get(pixel.join()) ?? 0);
    if (packing === 'rle') return runLengths(indices, depth);
    return padded(depth <= 8 ? packed(indices, depth) : row.flatMap((pixel) => direct(pixel, options)));
  });
  const data = Buffer.from([...lines.flat(), ...(packing === 'rle' ? [0, 1] : [])]);
  const colours = Buffer.from(palette.flatMap(([r, g, b]) => (core ? [b, g, r] : [b, g, r, 0])));
  const table = core ? Buffer.concat([colours, Buffer.alloc(3 * 2 ** depth - colours.length)]) : colours;
  const head = Buffer.concat([headerOf(pixels, options, palette.length), masksOf(options), table]);
  const file = Buffer.alloc(14);
  file.write('BM', 'latin1');
  file.writeUInt32LE(14 + head.length + data.length, 2);
  file.writeUInt32LE(14 + head.length, 10);
  return Buffer.concat([file, head, data]);
};

const headerOf = (
  pixels: Pixels,
  { depth, packing, topDown = false, core = false }: BmpOptions,
  colours: number,
): Buffer => {
  const [height, width] = [pixels.length, pixels[0]?.length ?? 0];
  const header = Buffer.alloc(core ? 12 : 40);
  header.writeUInt32LE(header.length, 0);
  if (core) {
    header.writeUInt16LE(width, 4);
    header.writeUInt16LE(height, 6);
    header.writeUInt16LE(1, 8);
    header.writeUInt16LE(depth, 10);
    return header;
  }
  header.writeInt32LE(width, 4);
  header.writeInt32LE(topDown ? -height : height, 8);
  header.writeUInt16LE(1, 12);
  header.writeUInt16LE(depth, 14);
  header.writeUInt32LE(packingOf(depth, packing), 16);
  header.writeUInt32LE(colours, 32);
  return header;
};

/** Raw RGB as rows. */
export const pixelsOf = (data: Uint8Array, width: number): Pixels =>
  Array.from({ length: data.length / 3 / width }, (_, y) =>
    Array.from({ length: width }, (__, x) => {
      const at = 3 * (y * width + x);
      return [data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0] as const;
    }),
  );
