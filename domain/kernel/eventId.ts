import { hash as digest } from 'node:crypto';

/** Namespace of Quire's event IDs, a constant UUID. */
const NAMESPACE = Buffer.from('6f1d8c1e7b8a4c0f9d3e51f0a2c4b697', 'hex');

/** The variant bits of RFC 9562 in a hex digit. */
export const VARIANT = '89ab89ab89ab89ab';

/** UUID version 5 (RFC 9562) of a name in Quire's namespace. */
export const uuidOfName = (name: string): string => {
  const hex = digest('sha1', Buffer.concat([NAMESPACE, Buffer.from(name)]));
  const variant = VARIANT.charAt(Number.parseInt(hex.charAt(16), 16));
  return (
    `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}` +
    `${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  );
};

/** The ID of the `index`-th event that a command yields in a stream: the same command, the same IDs. */
export const deterministicEventId = (stream: string, commandId: string, index: number): string =>
  uuidOfName(`${stream}\u001f${commandId}\u001f${index}`);
