import { constants, inflateSync } from 'node:zlib';

/** How a stream is packed, as far as contents of pages usually are. */
export type Filter = 'flate' | 'ascii85' | 'other';

/** All that may be unpacked of one file, and of one stream. */
const UNPACKED_MAX = 64 * 1024 * 1024;
const STREAM_MAX = 16 * 1024 * 1024;

/** Unpacks streams, as long as all of them together stay within bounds. */
export function unpacker(): (packed: Uint8Array, filters: readonly Filter[]) => Uint8Array | undefined {
  let left = UNPACKED_MAX;
  return (packed, filters) => {
    let bytes: Uint8Array | undefined = packed;
    for (const filter of filters) bytes = bytes === undefined ? undefined : step(bytes, filter, left);
    left -= bytes?.length ?? STREAM_MAX;
    return left < 0 ? undefined : bytes;
  };
}

function step(bytes: Uint8Array, filter: Filter, left: number): Uint8Array | undefined {
  if (filter === 'other' || left <= 0 || bytes.length > STREAM_MAX) return undefined;
  return filter === 'ascii85' ? fromAscii85(bytes) : inflated(bytes, Math.min(left, STREAM_MAX));
}

function inflated(bytes: Uint8Array, maxOutputLength: number): Uint8Array | undefined {
  try {
    return inflateSync(bytes, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return undefined;
  }
}

const [FIRST, LAST, ZEROS, END] = [33, 117, 122, 126];

/** Five letters are four bytes; `z` is four zeros, `~` the end. */
function fromAscii85(letters: Uint8Array): Uint8Array {
  const bytes: number[] = [];
  let group: number[] = [];
  for (const letter of letters) {
    if (letter === END) break;
    if (letter === ZEROS && group.length === 0) bytes.push(0, 0, 0, 0);
    else if (letter >= FIRST && letter <= LAST) group.push(letter - FIRST);
    if (group.length < 5) continue;
    bytes.push(...bytesOf(group));
    group = [];
  }
  const { length } = group;
  if (length > 1) bytes.push(...bytesOf([...group, 84, 84, 84, 84].slice(0, 5)).slice(0, length - 1));
  return Uint8Array.from(bytes);
}

function bytesOf(group: readonly number[]): readonly number[] {
  const value = group.reduce((sum, digit) => sum * 85 + digit, 0);
  return [value / 0x1000000, value / 0x10000, value / 0x100, value].map((part) => Math.floor(part) & 255);
}
