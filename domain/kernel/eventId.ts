import { createHash } from 'node:crypto';

/** Namespace of Quire's event IDs, a constant UUID. */
const NAMESPACE = Buffer.from('6f1d8c1e7b8a4c0f9d3e51f0a2c4b697', 'hex');

const HEX = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

/** UUID version 5 (RFC 9562) of a name in Quire's namespace. */
export const uuidOfName = (name: string): string => {
  const bytes = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(HEX, '$1-$2-$3-$4-$5');
};

/** The ID of the `index`-th event that a command yields in a stream: the same command, the same IDs. */
export const deterministicEventId = (stream: string, commandId: string, index: number): string =>
  uuidOfName(`${stream}\u001f${commandId}\u001f${index}`);
