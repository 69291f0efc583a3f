import { posix } from 'node:path';
import { unzip } from '../pieces/archive.ts';
import { openOffice } from '../office/openOffice.ts';
import { childAt, elementsOf, findAll, parseXml, type Prefixes, type XmlElement } from '../office/xmlTree.ts';
import type { Opener } from '../pieces/opened.ts';
import { blocksOf, HIDDEN_TEXT, OFFICE_LIMITS, RefusedDocument, type Piece } from '../pieces/blocks.ts';
import { decodeText } from './textDocument.ts';
import { htmlPieces } from './html.ts';

const MIME_TYPE = 'application/epub+zip';
const WANTED = /\.(?:x?html?|xml|opf)$/i;
const PREFIXES: Prefixes = {
  'urn:oasis:names:tc:opendocument:xmlns:container': '',
  'http://www.idpf.org/2007/opf': '',
  'http://www.w3.org/2001/04/xmlenc#': 'enc',
};
/** How fonts are made unusable outside of their book: the text is not touched. */
const FONTS_ONLY = new Set(['http://www.idpf.org/2008/embedding', 'http://ns.adobe.com/pdf/enc#RC']);

type Members = ReadonlyMap<string, Uint8Array>;

/** Opens an electronic book: its parts in the order in which they are read, as one flow. */
export const openEpub: Opener = ({ bytes }) =>
  openOffice(MIME_TYPE, () => {
    const archive = unzip(bytes, (name) => WANTED.test(name), OFFICE_LIMITS);
    if (archive.kind === 'unreadable') throw new RefusedDocument(archive.detail);
    refuseProtected(archive.members);
    const read = partsInOrder(archive.members).map((part) => htmlPieces(decodeText(part) ?? ''));
    const pieces: readonly Piece[] = read.flatMap((part) => part.pieces);
    const hasHidden = read.some((part) => part.hasHidden);
    return { blocks: blocksOf(pieces), warnings: hasHidden ? [HIDDEN_TEXT] : [] };
  });

function rootOf(members: Members, name: string): XmlElement | undefined {
  const bytes = members.get(name);
  if (bytes === undefined) return undefined;
  const xml = parseXml(bytes, PREFIXES, { doctype: 'ignored' });
  if (xml.kind === 'unreadable') throw new RefusedDocument(xml.detail);
  return xml.root;
}

function refuseProtected(members: Members): void {
  const methods = findAll(rootOf(members, 'META-INF/encryption.xml'), 'enc:EncryptionMethod');
  if (methods.some(({ attributes }) => !FONTS_ONLY.has(attributes['Algorithm'] ?? '')))
    throw new RefusedDocument('The book is protected against reading. Send it without protection.');
}

/** The pages of the book as its spine lists them, each once: a spine that names one again is no longer book. */
function partsInOrder(members: Members): readonly Uint8Array[] {
  const container = rootOf(members, 'META-INF/container.xml');
  const path = childAt(container, 'rootfiles', 'rootfile')?.attributes['full-path'] ?? '';
  const book = rootOf(members, path);
  if (book === undefined) throw new RefusedDocument('The book does not say what its parts are.');
  const items = new Map(
    elementsOf(childAt(book, 'manifest'), 'item').map(({ attributes }) => [
      attributes['id'],
      attributes['href'] ?? '',
    ]),
  );
  const names = elementsOf(childAt(book, 'spine'), 'itemref').flatMap(({ attributes }) => {
    const href = items.get(attributes['idref']);
    return href === undefined ? [] : memberAt(path, href);
  });
  return [...new Set(names)].flatMap((name) => members.get(name) ?? []);
}

/** The member that a part points to; its name is written as in an address. */
function memberAt(from: string, href: string): string {
  const path = posix.join(posix.dirname(from), href.split('#', 1)[0] ?? '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
