import { unzip } from '../archive.ts';
import type { Opener } from '../opened.ts';
import {
  blocksOf,
  HIDDEN_TEXT,
  OFFICE_LIMITS,
  noteBlocks,
  noteRuns,
  RefusedDocument,
} from '../pieces/blocks.ts';
import { mathmlText } from './mathmlText.ts';
import { odtPieces } from './odtBody.ts';
import type { OdtReader } from './odtRuns.ts';
import { ODT_PREFIXES, odtStyles } from './odtStyles.ts';
import { openOffice } from '../office/openOffice.ts';
import type { Run } from '../pieces/runs.ts';
import { childAt, elementsOf, parseXml, type XmlElement } from '../office/xmlTree.ts';

const MIME_TYPE = 'application/vnd.oasis.opendocument.text';
const WANTED = /^(?:content\.xml|styles\.xml|META-INF\/manifest\.xml|[^/]+\/content\.xml)$/;

/** Opens an OpenDocument text: its body in reading order and its notes, without headers and footers. */
export const openOdt: Opener = ({ bytes }) =>
  openOffice(MIME_TYPE, () => {
    const archive = unzip(bytes, (name) => WANTED.test(name), OFFICE_LIMITS);
    if (archive.kind === 'unreadable') throw new RefusedDocument(archive.detail);
    refuseEncrypted(archive.members);
    const content = partAt(archive.members, 'content.xml');
    if (content === undefined) throw new RefusedDocument('The document has no text part.');
    const reader = readerOf(content, archive.members);
    const text = childAt(content, 'office:body', 'office:text');
    const blocks = text === undefined ? [] : blocksOf(reader.readPieces(text));
    const notes = noteBlocks(notesOf(reader));
    return { blocks: [...blocks, ...notes], warnings: reader.hasHidden ? [HIDDEN_TEXT] : [] };
  });

/** The parts of an encrypted document are noise; its manifest, which is not encrypted, says so. */
function refuseEncrypted(members: ReadonlyMap<string, Uint8Array>): void {
  const manifest = members.get('META-INF/manifest.xml');
  if (manifest !== undefined && Buffer.from(manifest).includes('encryption-data'))
    throw new RefusedDocument('The file is encrypted and needs a password. Send it without one.');
}

function partAt(members: ReadonlyMap<string, Uint8Array>, name: string): XmlElement | undefined {
  const bytes = members.get(name);
  if (bytes === undefined) return undefined;
  const xml = parseXml(bytes, ODT_PREFIXES);
  if (xml.kind === 'unreadable') throw new RefusedDocument(xml.detail);
  return xml.root;
}

function readerOf(content: XmlElement, members: ReadonlyMap<string, Uint8Array>): OdtReader {
  const reader: OdtReader = {
    styles: odtStyles([content, partAt(members, 'styles.xml')]),
    notes: [],
    aside: [],
    hasHidden: false,
    readPieces: odtPieces(() => reader, new Map()),
    equationAt: (path) => {
      const part = partAt(members, `${path}/content.xml`);
      return part?.name === 'math:math' ? mathmlText(part).replace(/\s+/g, ' ').trim() : undefined;
    },
  };
  return reader;
}

/** A note may hold marks of others: those follow. */
function notesOf(reader: OdtReader): readonly (readonly Run[])[] {
  const texts: (readonly Run[])[] = [];
  for (const note of reader.notes) {
    const body = elementsOf(note, 'text:note-body').flatMap((part) => reader.readPieces(part));
    texts.push(noteRuns(body));
  }
  return texts;
}
