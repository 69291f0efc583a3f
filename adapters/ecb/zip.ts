import { inflateRawSync } from 'node:zlib';

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
const STORED = 0;
const DEFLATED = 8;

/** The end record lies in the last 64 KiB: only a comment may follow it. */
const endOfDirectory = (zip: Buffer): number => {
  for (let at = zip.length - 22; at >= Math.max(0, zip.length - 65_557); at -= 1)
    if (zip.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  throw new Error('the zip file is damaged: it has no directory');
};

/**
 * The only file in a zip archive, unpacked. Throws when it is damaged, encrypted, holds another number
 * of files than one, or unpacks to more than `bytesMax`.
 */
export const onlyFileInZip = (zip: Buffer, bytesMax: number): Buffer => {
  const end = endOfDirectory(zip);
  if (zip.readUInt16LE(end + 10) !== 1) throw new Error('the zip file must hold exactly one file');
  const entry = zip.readUInt32LE(end + 16);
  if (zip.readUInt32LE(entry) !== DIRECTORY_ENTRY)
    throw new Error('the zip file is damaged: its directory is not where it should be');
  if ((zip.readUInt16LE(entry + 8) & 1) === 1) throw new Error('the zip file is encrypted');
  const method = zip.readUInt16LE(entry + 10);
  const packed = zip.readUInt32LE(entry + 20);
  const local = zip.readUInt32LE(entry + 42);
  if (zip.readUInt32LE(local) !== LOCAL_ENTRY)
    throw new Error('the zip file is damaged: its file is missing');
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const bytes = zip.subarray(start, start + packed);
  if (method === STORED && packed <= bytesMax) return bytes;
  if (method === DEFLATED) return inflateRawSync(bytes, { maxOutputLength: bytesMax });
  throw new Error('the zip file is packed in a way that is not supported, or too large');
};
