import { fileTypeFromBuffer } from 'file-type';
import { decodeText, hasByteOrderMark } from './decodeText.ts';

/** What the bytes are. `text` holds the decoded text, for telling the type has read it anyway. */
export type Sniffed =
  | { readonly kind: 'pdf' }
  | { readonly kind: 'text'; readonly mimeType: 'text/plain' | 'text/markdown'; readonly text: string }
  | { readonly kind: 'empty' }
  | { readonly kind: 'damaged'; readonly detail: string }
  | { readonly kind: 'unsupported'; readonly detail: string };

/** A PDF may begin with up to so much else (ISO 32000, annex H). */
const PDF_HEADER_WITHIN = 1024;
const SUPPORTED = 'PDF, plain text and Markdown';

/** The type is told from the bytes; the name only says which kind of text a text is. */
export async function sniff(bytes: Uint8Array, fileName: string | null): Promise<Sniffed> {
  if (bytes.length === 0) return { kind: 'empty' };
  if (Buffer.from(bytes.subarray(0, PDF_HEADER_WITHIN)).includes('%PDF-')) return { kind: 'pdf' };
  const known = hasByteOrderMark(bytes) ? undefined : await fileTypeFromBuffer(bytes);
  if (known !== undefined && !known.mime.startsWith('text/'))
    return { kind: 'unsupported', detail: `A file of type ${known.mime} cannot be read. Send ${SUPPORTED}.` };
  const text = decodeText(bytes);
  if (text === undefined) return notText(fileName);
  if (text.trim() === '') return { kind: 'empty' };
  return { kind: 'text', mimeType: isMarkdownName(fileName) ? 'text/markdown' : 'text/plain', text };
}

const isMarkdownName = (fileName: string | null): boolean =>
  /\.(?:md|markdown|mdown|mkd)$/i.test(fileName ?? '');

const notText = (fileName: string | null): Sniffed =>
  /\.pdf$/i.test(fileName ?? '')
    ? { kind: 'damaged', detail: 'The file is named like a PDF, but it has no PDF header.' }
    : { kind: 'unsupported', detail: `The file is of no type that can be read. Send ${SUPPORTED}.` };
