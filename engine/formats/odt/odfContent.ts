import { unzip } from '../pieces/archive.ts';
import { parseXml, type XmlElement } from '../office/xmlTree.ts';
import { OFFICE_LIMITS, RefusedDocument } from '../pieces/blocks.ts';
import { mathmlText } from './mathmlText.ts';
import { odtPieces } from './odtBody.ts';
import { hasFilledPages } from './odtColours.ts';
import type { OdtReader } from './odtRuns.ts';
import { ODT_PREFIXES, odtStyles } from './odtStyles.ts';

const WANTED = /^(?:content\.xml|styles\.xml|META-INF\/manifest\.xml|[^/]+\/content\.xml)$/;

/** The content of an OpenDocument file, and what reads its pieces. */
export interface OdfContent {
  readonly content: XmlElement;
  readonly reader: OdtReader;
  /** The named styles, page styles with their headers among them, and what reads the pieces in them. */
  readonly named: { readonly root: XmlElement | undefined; readonly reader: OdtReader };
  /** No page has a colour or a picture behind its text. */
  readonly hasWhitePages: boolean;
}

/** Reads the parts of an OpenDocument file; throws `RefusedDocument` where it cannot be read. */
export function odfContent(bytes: Buffer): OdfContent {
  const archive = unzip(bytes, (name) => WANTED.test(name), OFFICE_LIMITS);
  if (archive.kind === 'unreadable') throw new RefusedDocument(archive.detail);
  refuseEncrypted(archive.members);
  const content = partAt(archive.members, 'content.xml');
  if (content === undefined) throw new RefusedDocument('The document has no text part.');
  const root = partAt(archive.members, 'styles.xml');
  return {
    content,
    reader: readerOf([content, root], archive.members, false),
    // Automatic styles of the two parts have the same names and are others.
    named: { root, reader: readerOf([root], archive.members, true) },
    hasWhitePages: !hasFilledPages(root),
  };
}

/** The parts of an encrypted document are noise; its manifest, which is not encrypted, says so. */
function refuseEncrypted(members: ReadonlyMap<string, Uint8Array>): void {
  const manifest = members.get('META-INF/manifest.xml');
  if (manifest !== undefined && Buffer.from(manifest).includes('encryption-data'))
    throw new RefusedDocument('The file is encrypted and needs a password. Send it without one.');
}

/** Objects in a document may name their document type, as old equations do; nothing of it is resolved. */
function partAt(
  members: ReadonlyMap<string, Uint8Array>,
  name: string,
  doctype: 'refused' | 'ignored' = 'refused',
): XmlElement | undefined {
  const bytes = members.get(name);
  if (bytes === undefined) return undefined;
  const xml = parseXml(bytes, ODT_PREFIXES, { doctype });
  if (xml.kind === 'unreadable') throw new RefusedDocument(xml.detail);
  return xml.root;
}

function readerOf(
  roots: readonly (XmlElement | undefined)[],
  members: ReadonlyMap<string, Uint8Array>,
  isLetterhead: boolean,
): OdtReader {
  const reader: OdtReader = {
    styles: odtStyles(roots),
    isLetterhead,
    notes: [],
    aside: [],
    hasHidden: false,
    onPaper: false,
    readPieces: odtPieces(() => reader, new Map()),
    equationAt: (path) => {
      const part = partAt(members, `${path}/content.xml`, 'ignored');
      return part?.name === 'math:math' ? mathmlText(part).replace(/\s+/g, ' ').trim() : undefined;
    },
  };
  return reader;
}
