import type { ParseFailure } from '../../ports/documentParser.ts';
import type { Opener } from '../pieces/opened.ts';
import { contentOfEnvelope, envelopeIn, isMailPart } from './sealed.ts';

const DEPTH_MAX = 5;

const failure = (detail: string): Promise<ParseFailure> => Promise.resolve({ kind: 'unreadable', detail });

/** Opens the file that another one signs (`invoice.pdf.p7m`), as if it came by itself. */
export const openSealed: Opener = (file) => {
  const envelope = envelopeIn(file.bytes);
  const content = envelope === undefined ? undefined : contentOfEnvelope(envelope);
  if (content === 'encrypted') return failure('The file is encrypted. Send it decrypted.');
  if (content === undefined)
    return failure('The file is a signature alone, without what it signs. Send that.');
  if (file.depth > DEPTH_MAX) return failure('The file is in too many envelopes.');
  const name = (file.fileName ?? '').replace(/\.p7[ms]$/i, '');
  const fileName = isMailPart(content) ? `${name}.eml` : name === '' ? null : name;
  return file.openPart({ bytes: content, fileName });
};
