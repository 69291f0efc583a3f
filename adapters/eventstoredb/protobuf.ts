// As much of protobuf's encoding as the messages of EventStoreDB need.

/** A place in a message of protobuf, read field by field. */
export interface Cursor {
  readonly bytes: Buffer;
  at: number;
}

/** Kinds of a field's value; those that this protocol does not have are not read. */
const [NUMBER, EIGHT_BYTES, BYTES, FOUR_BYTES] = [0, 1, 2, 5] as const;

/** Seven bits a byte, the lowest first. Exact below 2^53, which numbers of fields and lengths are. */
const numberAt = (cursor: Cursor): number => {
  let [value, scale] = [0, 1];
  for (;;) {
    const byte = cursor.bytes[cursor.at] ?? 0;
    cursor.at += 1;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
    scale *= 0x80;
  }
};

/** The same, exact for all 64 bits. */
export const bigintAt = (cursor: Cursor): bigint => {
  const start = cursor.at;
  const value = numberAt(cursor);
  if (value <= Number.MAX_SAFE_INTEGER) return BigInt(value);
  let exact = 0n;
  for (let at = cursor.at - 1; at >= start; at -= 1)
    exact = (exact << 7n) | BigInt((cursor.bytes[at] ?? 0) & 0x7f);
  return exact;
};

const skip = (cursor: Cursor, kind: number): void => {
  if (kind === NUMBER) numberAt(cursor);
  else if (kind === BYTES) cursor.at = endAt(cursor);
  else if (kind === EIGHT_BYTES) cursor.at += 8;
  else if (kind === FOUR_BYTES) cursor.at += 4;
  else throw new Error(`a message of EventStoreDB has a value of the unknown kind ${String(kind)}`);
};

/** Reads the fields of a message that ends at `end`; `read` gives false for one that it leaves alone. */
export const fields = (cursor: Cursor, end: number, read: (field: number) => boolean): void => {
  while (cursor.at < end) {
    const key = numberAt(cursor);
    if (!read(key >>> 3)) skip(cursor, key & 7);
  }
};

/** The end of what begins here with its length. */
export const endAt = (cursor: Cursor): number => {
  const length = numberAt(cursor);
  return cursor.at + length;
};

export const textAt = (cursor: Cursor): string => {
  const end = endAt(cursor);
  const text = cursor.bytes.toString('utf8', cursor.at, end);
  cursor.at = end;
  return text;
};

/** A message that is written from its end to its beginning, so that each length is known when its turn comes. */
export interface Draft {
  readonly bytes: Buffer;
  /** Where what is written begins. */
  at: number;
}

/** A number below 2^53. */
export const putNumber = (to: Draft, value: number): void => {
  let size = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size += 1;
  to.at -= size;
  let [rest, at] = [value, to.at];
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) {
    to.bytes[at] = (rest % 0x80) | 0x80;
    at += 1;
  }
  to.bytes[at] = rest;
};

/** Any number of 64 bits. */
export const putBigint = (to: Draft, value: bigint): void => {
  // The lowest bits stand first.
  const isLarge = value >= 1n << 49n;
  putNumber(to, Number(isLarge ? value >> 49n : value));
  for (let bits = isLarge ? 42n : -1n; bits >= 0n; bits -= 7n) {
    to.at -= 1;
    to.bytes[to.at] = Number((value >> bits) & 0x7fn) | 0x80;
  }
};

/** The number of a field, and the kind of what it has. */
export const putKey = (to: Draft, field: number, kind: 0 | 2): void => putNumber(to, (field << 3) | kind);

/** What was written since `end`, as the content of a field. */
export const putField = (to: Draft, field: number, end: number): void => {
  putNumber(to, end - to.at);
  putKey(to, field, BYTES);
};

export const putText = (to: Draft, field: number, text: string): void => {
  const [end, size] = [to.at, Buffer.byteLength(text)];
  to.at -= size;
  // Most texts have no letter beyond ASCII, and these are only copied.
  to.bytes.write(text, to.at, size, size === text.length ? 'latin1' : 'utf8');
  putField(to, field, end);
};
