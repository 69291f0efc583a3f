import { createRequire } from 'node:module';

interface Decoded {
  readonly width: number;
  readonly height: number;
  /** RGBA. */
  readonly data: Uint8ClampedArray;
}

/** libnsbmp as WebAssembly: it reads every depth, palette, bit field and run length, top-down ones too. */
const { decode } = createRequire(import.meta.url)('@cwasm/nsbmp') as {
  readonly decode: (bytes: Uint8Array) => Decoded;
};

const CORE_HEADER_BYTES = 12;

export interface BmpSize {
  readonly width: number;
  readonly height: number;
}

/** What the header says, before anything is unpacked. Throws when there is none. */
export function bmpSize(bytes: Buffer): BmpSize {
  const headerBytes = bytes.readUInt32LE(14);
  const isCore = headerBytes === CORE_HEADER_BYTES;
  const width = isCore ? bytes.readUInt16LE(18) : bytes.readInt32LE(18);
  const height = Math.abs(isCore ? bytes.readUInt16LE(20) : bytes.readInt32LE(22));
  if (width <= 0 || height <= 0) throw new RangeError('a picture without pixels');
  return { width, height };
}

/** Runs of a picture end with a line's end and the picture's end; libnsbmp knows but the latter there. */
const LINE_AND_PICTURE_END = Buffer.from([0, 0, 0, 1]);
const PICTURE_END = LINE_AND_PICTURE_END.subarray(2);

function decoded(bytes: Buffer): Decoded {
  try {
    return decode(bytes);
  } catch (error) {
    const end = bytes.length - LINE_AND_PICTURE_END.length;
    if (!bytes.subarray(end).equals(LINE_AND_PICTURE_END)) throw error;
    return decode(Buffer.concat([bytes.subarray(0, end), PICTURE_END]));
  }
}

/** The pixels as RGB: what 32-bit pictures keep in their fourth byte is hardly ever a transparency. */
export function bmpPixels(bytes: Buffer): BmpSize & { readonly rgb: Uint8Array } {
  const { width, height, data } = decoded(bytes);
  const rgb = new Uint8Array(width * height * 3);
  for (let from = 0, to = 0; to < rgb.length; from += 4, to += 3) {
    rgb[to] = data[from] ?? 0;
    rgb[to + 1] = data[from + 1] ?? 0;
    rgb[to + 2] = data[from + 2] ?? 0;
  }
  return { width, height, rgb };
}
