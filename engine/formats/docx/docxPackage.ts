import { unzip } from '../pieces/archive.ts';
import { OFFICE_LIMITS, RefusedDocument } from '../pieces/blocks.ts';
import { readPart, relationshipsOf, type Relationship } from '../office/ooxmlPackage.ts';
import type { XmlElement } from '../office/xmlTree.ts';

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

const linksOf = (relationships: readonly Relationship[]): ReadonlyMap<string, string> =>
  new Map(
    relationships
      .filter(({ type, isExternal }) => type === 'hyperlink' && isExternal)
      .map(({ id, target }) => [id, target]),
  );
