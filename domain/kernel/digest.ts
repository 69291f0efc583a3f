import { createHash } from 'node:crypto';

/** SHA-256 of a text's UTF-8 bytes, as lower-case hex. */
export const sha256Hex = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');
