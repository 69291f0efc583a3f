import { posix } from 'node:path';
import { unzip } from '../archive.ts';
import { OFFICE_LIMITS, RefusedDocument } from './blocks.ts';
import { elementsOf, parseXml, type Prefixes, type XmlElement } from './xmlTree.ts';

/** Namespaces of both forms of Office Open XML, transitional and strict. */
const PREFIXES: Prefixes = {
  'http://schemas.openxmlformats.org/wordprocessingml/2006/main': 'w',
  'http://purl.oclc.org/ooxml/wordprocessingml/main': 'w',
  'http://schemas.openxmlformats.org/officeDocument/2006/relationships': 'r',
  'http://purl.oclc.org/ooxml/officeDocument/relationships': 'r',
  'http://schemas.openxmlformats.org/officeDocument/2006/math': 'm',
  'http://purl.oclc.org/ooxml/officeDocument/math': 'm',
  'http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing': 'wp',
  'http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing': 'wp',
  'http://schemas.openxmlformats.org/drawingml/2006/main': 'a',
  'http://purl.oclc.org/ooxml/drawingml/main': 'a',
  'http://schemas.openxmlformats.org/markup-compatibility/2006': 'mc',
  'urn:schemas-microsoft-com:vml': 'v',
  'http://schemas.openxmlformats.org/package/2006/relationships': '',
};

/** The parts of a DOCX that hold its text. */
export interface DocxParts {
  readonly document: XmlElement;
  readonly styles: XmlElement | undefined;
  readonly numbering: XmlElement | undefined;
  readonly footnotes: XmlElement | undefined;
  readonly endnotes: XmlElement | undefined;
  /** Link destinations outside of the file by relationship id, of the body and of each kind of notes. */
  readonly links: Readonly<Record<'document' | 'footnotes' | 'endnotes', ReadonlyMap<string, string>>>;
}

interface Relationship {
  readonly id: string;
  /** The last step of its type: `styles`, `hyperlink` … */
  readonly type: string;
  readonly target: string;
  readonly isExternal: boolean;
}

const UNWANTED = /(?:^|\/)(?:theme|customXml|docProps|charts|diagrams|media|embeddings|fonts|glossary)\//;

/** Reads the parts; throws `RefusedDocument` where the file cannot be read. */
export function docxParts(bytes: Uint8Array): DocxParts {
  const wanted = (name: string): boolean => /\.(?:xml|rels)$/i.test(name) && !UNWANTED.test(name);
  const archive = unzip(bytes, wanted, OFFICE_LIMITS);
  if (archive.kind === 'unreadable') throw new RefusedDocument(archive.detail);
  const { members } = archive;
  const partAt = (name: string | undefined): XmlElement | undefined =>
    name === undefined ? undefined : readPart(members.get(name));
  const main = mainPart(members);
  const document = partAt(main);
  if (document === undefined) throw new RefusedDocument('The document has no text part.');
  const near = relationshipsOf(members, main);
  const nameOf = (type: string): string | undefined =>
    near.find((relationship) => relationship.type === type && !relationship.isExternal)?.target;
  const [footnotes, endnotes] = [nameOf('footnotes'), nameOf('endnotes')];
  return {
    document,
    styles: partAt(nameOf('styles')),
    numbering: partAt(nameOf('numbering')),
    footnotes: partAt(footnotes),
    endnotes: partAt(endnotes),
    links: {
      document: linksOf(near),
      footnotes: linksOf(footnotes === undefined ? [] : relationshipsOf(members, footnotes)),
      endnotes: linksOf(endnotes === undefined ? [] : relationshipsOf(members, endnotes)),
    },
  };
}

function mainPart(members: ReadonlyMap<string, Uint8Array>): string {
  const main = relationshipsOf(members, '').find(({ type }) => type === 'officeDocument')?.target;
  return main !== undefined && members.has(main) ? main : 'word/document.xml';
}

function readPart(bytes: Uint8Array | undefined): XmlElement | undefined {
  if (bytes === undefined) return undefined;
  const xml = parseXml(bytes, PREFIXES);
  if (xml.kind === 'unreadable') throw new RefusedDocument(xml.detail);
  return xml.root;
}

function relationshipsOf(members: ReadonlyMap<string, Uint8Array>, part: string): readonly Relationship[] {
  const folder = posix.dirname(part);
  const root = readPart(members.get(posix.join(folder, '_rels', `${posix.basename(part)}.rels`)));
  return elementsOf(root, 'Relationship').map(({ attributes }) => {
    const isExternal = attributes['TargetMode'] === 'External';
    const target = attributes['Target'] ?? '';
    return {
      id: attributes['Id'] ?? '',
      type: (attributes['Type'] ?? '').split('/').pop() ?? '',
      target: isExternal ? target : posix.resolve('/', folder, target).slice(1),
      isExternal,
    };
  });
}

const linksOf = (relationships: readonly Relationship[]): ReadonlyMap<string, string> =>
  new Map(
    relationships
      .filter(({ type, isExternal }) => type === 'hyperlink' && isExternal)
      .map(({ id, target }) => [id, target]),
  );
