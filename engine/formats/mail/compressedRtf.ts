import { RefusedDocument } from '../pieces/blocks.ts';

/** What every such stream could refer to before its own first character (MS-OXRTFCP 2.1.3.1). */
const DICTIONARY =
  String.raw`{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor ` +
  String.raw`MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0` +
  '\r\n' +
  String.raw`\par \pard\plain\f0\fs20\b\i\u\tab\tx`;
const COMPRESSED = 0x75465a4c;
const UNCOMPRESSED = 0x414c454d;
const HEADER = 16;
const WINDOW = 4096;
const BYTES_MAX = 16 * 1024 * 1024;

/** The body that Outlook keeps as compressed RTF (MS-OXRTFCP); throws `RefusedDocument` where it is damaged. */
export function rtfOfBody(bytes: Buffer): Buffer {
  if (bytes.length < HEADER) throw new RefusedDocument('The body of the message is damaged.');
  const kind = bytes.readUInt32LE(8);
  const size = bytes.readUInt32LE(4);
  if (kind === UNCOMPRESSED) return bytes.subarray(HEADER, HEADER + size);
  if (kind !== COMPRESSED || size > BYTES_MAX)
    throw new RefusedDocument('The body of the message is damaged.');
  return expanded(bytes, size);
}

/** Each bit of a control byte says whether a character follows or a place in the last 4,096 of them. */
function expanded(bytes: Buffer, size: number): Buffer {
  const window = Buffer.alloc(WINDOW);
  let end = window.write(DICTIONARY, 'latin1');
  const text = Buffer.alloc(size);
  let written = 0;
  const put = (byte: number): void => {
    if (written < size) written = text.writeUInt8(byte, written);
    window.writeUInt8(byte, end);
    end = (end + 1) % WINDOW;
  };
  let at = HEADER;
  while (at < bytes.length && written < size) {
    const control = bytes.readUInt8(at++);
    for (let bit = 0; bit < 8 && at < bytes.length; bit += 1) {
      if (((control >> bit) & 1) === 0) {
        put(bytes.readUInt8(at++));
        continue;
      }
      if (at + 2 > bytes.length) return text.subarray(0, written);
      const reference = bytes.readUInt16BE(at);
      at += 2;
      const from = reference >> 4;
      // A place that is that of the next character ends the text.
      if (from === end) return text.subarray(0, written);
      for (let index = 0; index < (reference & 0xf) + 2; index += 1)
        put(window.readUInt8((from + index) % WINDOW));
    }
  }
  return text.subarray(0, written);
}
