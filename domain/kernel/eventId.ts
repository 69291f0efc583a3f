import { createHash } from 'node:crypto';

/** The namespace of event IDs: a UUID drawn once for Quire. */
const NAMESPACE = Buffer.from('6f1c1d3e8a574b0f9e2a5d7c4b8136aa', 'hex');

/**
 * UUIDv5 over the stream, the command and the event's place among the command's events. The same
 * command decided again gives the same IDs, which is what lets the log recognise a repeated append.
 */
export const deterministicEventId = (stream: string, commandId: string, index: number): string => {
  const digest = createHash('sha1')
    .update(NAMESPACE)
    .update(`${stream}\u001f${commandId}\u001f${String(index)}`, 'utf8')
    .digest();
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = digest.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};
