const POLYNOMIAL = 0xedb88320;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  return crc;
});

/** CRC-32 (ISO-HDLC, as in zip) of ASCII text, unsigned. It finds typing errors; it protects nothing. */
export const crc32 = (ascii: string): number => {
  let crc = 0xffffffff;
  for (let at = 0; at < ascii.length; at += 1)
    crc = (crc >>> 8) ^ (TABLE[(crc ^ ascii.charCodeAt(at)) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
};
