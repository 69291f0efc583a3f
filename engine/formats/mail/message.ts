import type { Block, DocumentPage, DocumentWarning, Line } from '../../document/document.ts';
import { escapeText } from '../../document/inline.ts';
import type { ParseFailure, ParseResult } from '../../ports/documentParser.ts';
import { lineOf, linesOfBlock } from '../../document/markupLines.ts';
import { openFlow } from '../pieces/flow.ts';
import { blocksOf, HIDDEN_TEXT, RefusedDocument } from '../pieces/blocks.ts';
import type { OpenedDocument, SourceFile } from '../pieces/opened.ts';
import { rtfText } from '../rtf/openRtf.ts';
import { textBlocks } from '../text/textDocument.ts';
import { htmlPieces } from '../text/html.ts';
import { unsealed, type Attached, type Mail, type Mailbox } from './mail.ts';

const DEPTH_MAX = 3;
const ATTACHMENTS_MAX = 50;

interface Part {
  readonly name: string;
  readonly opened: OpenedDocument;
}

/**
 * Opens a mail: its headers and its body, then each attachment that can be read, with its own pages. What
 * cannot be read is named in a warning.
 */
export async function openMessage(sent: Mail, file: SourceFile): Promise<OpenedDocument | ParseFailure> {
  const { mail, isEncrypted } = await unsealed(sent);
  const { mimeType } = mail;
  try {
    const { blocks, warnings: own } = bodyOf(mail);
    const warnings = isEncrypted ? [...own, ENCRYPTED] : own;
    const body = openFlow({ mimeType, blocks: [...headerBlocks(mail), ...blocks], warnings });
    const { parts, lost } = await openAttachments(mail.attachments, file);
    const pages = parts.reduce((sum, { opened }) => sum + opened.pages, body.pages);
    const further = furtherLines(mail);
    return { kind: 'open', mimeType, pages, read: () => readAll({ mimeType, body, parts, lost, further }) };
  } catch (error) {
    if (error instanceof RefusedDocument) return { kind: 'unreadable', detail: error.message };
    throw error;
  }
}

const ENCRYPTED: DocumentWarning = {
  code: 'page_failed',
  message: 'The text of the message is encrypted; only its receiver can open it. Send it decrypted.',
};

function headerBlocks({ subject, from, to, cc, date }: Mail): readonly Block[] {
  const lines = [
    ...addressLine('From', from),
    ...addressLine('To', to),
    ...addressLine('Cc', cc),
    ...(date === undefined ? [] : [`Date: ${date}`]),
  ];
  const title: readonly Block[] =
    subject === ''
      ? []
      : [{ kind: 'heading', level: 1, text: subject, markdown: escapeText(subject), box: null }];
  const text = lines.join('\n');
  return lines.length === 0
    ? title
    : [...title, { kind: 'paragraph', text, markdown: escapeText(text), box: null }];
}

/** What a header says beside what is shown: it can be extracted, and counts for no page. */
function furtherLines({ messageId = '', attachments }: Mail): readonly Line[] {
  const names = attachments.flatMap(({ name }) => (name === null ? [] : [name.replace(/\s+/g, ' ')]));
  return [
    ...(messageId === '' ? [] : [lineOf(`Message-ID: ${messageId}`)]),
    ...(names.length === 0 ? [] : [lineOf(`Attachments: ${names.slice(0, ATTACHMENTS_MAX).join('; ')}`)]),
  ];
}

const addressLine = (label: string, mailboxes: readonly Mailbox[]): readonly string[] => {
  const shown = mailboxes
    .map(({ name, address }) => (name === '' || address === '' ? name + address : `${name} (${address})`))
    .filter((one) => one !== '');
  return shown.length === 0 ? [] : [`${label}: ${shown.join(', ')}`];
};

interface Body {
  readonly blocks: readonly Block[];
  readonly warnings: readonly DocumentWarning[];
}

/** HTML says more of a body's form than plain text does: it is read where there is any that says as much. */
function bodyOf({ html, text, rtf }: Mail): Body {
  if (html.trim() !== '') {
    const { pieces, hasHidden } = htmlPieces(html);
    const blocks = blocksOf(pieces);
    const shown = blocks.flatMap(linesOfBlock).map((line) => line.text);
    if (blocks.length > 0 && !saysMore(text, shown.join('\n')))
      return { blocks, warnings: hasHidden ? [HIDDEN_TEXT] : [] };
  }
  if (text.trim() === '' && rtf !== undefined) {
    const { pieces, hasHidden } = rtfText(rtf);
    return { blocks: blocksOf(pieces), warnings: hasHidden ? [HIDDEN_TEXT] : [] };
  }
  return textBody(text.replace(/\r\n?/g, '\n').trim());
}

const ARMOURED = /^-----BEGIN PGP MESSAGE-----\n/;
const ARMOUR = /^-----BEGIN PGP SIGNED MESSAGE-----\n(?:[A-Z][A-Za-z]{1,20}: [^\n]{0,200}\n)*\n/;
const SIGNATURE_BELOW = '\n-----BEGIN PGP SIGNATURE-----';

/** A plain body: without the lines that sign it, and not at all where only its receiver can open it. */
function textBody(text: string): Body {
  if (ARMOURED.test(text)) return { blocks: [], warnings: [ENCRYPTED] };
  const signed = ARMOUR.exec(text)?.[0];
  if (signed === undefined) return { blocks: textBlocks(text), warnings: [] };
  const end = text.indexOf(SIGNATURE_BELOW);
  const own = text.slice(signed.length, end < 0 ? text.length : end).replace(/^- (?=-)/gm, '');
  return { blocks: textBlocks(own.trim()), warnings: [] };
}

const WORD = /[\p{L}\p{N}]+/gu;
const LINK = /(?:https?:\/\/|www\.)[^\s<>]+/g;

/**
 * Whether the plain text has what the HTML shows nothing of: most of its words, and figures where the HTML has none
 * or has far fewer words. HTML that only says where the text stands is so; a plain text that does, is not.
 */
function saysMore(plain: string, shown: string): boolean {
  const words = new Set(plain.replace(LINK, ' ').toLowerCase().match(WORD));
  const others = new Set(shown.replace(LINK, ' ').toLowerCase().match(WORD));
  const missing = [...words].filter((word) => !others.has(word));
  if (missing.length * 2 <= words.size) return false;
  const hasFigures = missing.some((word) => /\d/.test(word));
  const figures = [...others].filter((word) => /\d/.test(word)).length;
  return others.size * 2 < words.size || (hasFigures && figures === 0 && others.size <= words.size * 2);
}

interface Opened {
  readonly parts: readonly Part[];
  /** Names of attachments that could not be read, and why. */
  readonly lost: readonly string[];
}

async function openAttachments(attachments: readonly Attached[], file: SourceFile): Promise<Opened> {
  const parts: Part[] = [];
  const lost: string[] = [];
  let pages = 0;
  for (const [index, attachment] of attachments.entries()) {
    const name = attachment.name ?? `attachment ${index + 1}`;
    if (index >= ATTACHMENTS_MAX || file.depth >= DEPTH_MAX) {
      lost.push(`${name}: too many attachments, or too deep.`);
      continue;
    }
    if (isLocked(attachment.bytes)) {
      lost.push(`${name}: it is encrypted. Send it decrypted.`);
      continue;
    }
    const opened = await file.openPart({ bytes: attachment.bytes, fileName: name });
    if (opened.kind === 'open') {
      parts.push({ name, opened });
      pages += opened.pages;
      if (pages > file.pagesMax * 2) break;
    } else lost.push(`${name}: ${opened.kind === 'aborted' ? 'it was not read.' : opened.detail}`);
  }
  return { parts, lost };
}

const LOCKED = '-----BEGIN PGP MESSAGE-----';
const isLocked = (bytes: Buffer): boolean => bytes.toString('latin1', 0, LOCKED.length) === LOCKED;

interface All extends Opened {
  readonly further: readonly Line[];
  readonly mimeType: string;
  readonly body: OpenedDocument;
}

async function readAll({ mimeType, body, parts, lost, further }: All): Promise<ParseResult> {
  const first = await body.read();
  if (first.kind !== 'ok') return first;
  const pages: DocumentPage[] = first.document.pages.map((page, index) =>
    index === 0 ? { ...page, lines: [...further, ...page.lines] } : page,
  );
  const warnings: DocumentWarning[] = [...first.document.warnings];
  for (const { name, opened } of parts) {
    const read = await opened.read();
    if (read.kind === 'ok') {
      pages.push(...renumbered(read.document.pages, { from: pages.length, name }));
      warnings.push(...read.document.warnings);
    } else {
      pages.push(...failedPages(opened.pages, pages.length, name));
      lost = [...lost, `${name}: ${read.kind === 'aborted' ? 'it was not read.' : read.detail}`];
    }
  }
  const failures = lost.map((detail): DocumentWarning => ({
    code: 'page_failed',
    message: `Attachment ${detail}`,
  }));
  return { kind: 'ok', document: { mimeType, pages, warnings: [...warnings, ...failures] } };
}

interface AttachmentStart {
  readonly from: number;
  readonly name: string;
}

/** The pages of an attachment after those before it, under its name. */
const renumbered = (
  pages: readonly DocumentPage[],
  { from, name }: AttachmentStart,
): readonly DocumentPage[] =>
  pages.map((page, index) => ({
    ...page,
    page: from + index + 1,
    blocks:
      index === 0
        ? [{ kind: 'heading', level: 2, text: name, markdown: escapeText(name), box: null }, ...page.blocks]
        : page.blocks,
  }));

const failedPages = (count: number, from: number, name: string): readonly DocumentPage[] =>
  Array.from({ length: count }, (_, index) => ({
    page: from + index + 1,
    width: null,
    height: null,
    status: 'failed',
    source: 'markup',
    detail: `The attachment ${name} could not be read.`,
    lines: [],
    blocks: [],
  }));
