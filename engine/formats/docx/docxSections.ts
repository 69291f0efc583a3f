import type { Section } from '../pieces/letterheads.ts';
import type { Piece } from '../pieces/blocks.ts';
import type { DocxParts, LetterheadPart } from './docxPackage.ts';
import type { DocxReader } from './docxReader.ts';
import { toggle } from './docxStyles.ts';
import { childAt, elementsOf, findAll, type XmlElement } from '../office/xmlTree.ts';

/** The sections of a body, each with those of its headers and footers that no section before it has. */
export function docxSections(parts: DocxParts, reader: DocxReader): readonly Section[] {
  const body = childAt(parts.document, 'w:body') ?? parts.document;
  const read = new Set<string>();
  const letterheads = (properties: XmlElement | undefined, name: string): readonly (readonly Piece[])[] =>
    partsOf({ properties, name, parts }).flatMap((part) => {
      if (read.has(part.name)) return [];
      read.add(part.name);
      return [letterheadPieces(part, reader)];
    });
  return sectionsIn(body).map(({ children, properties }) => {
    const pieces = reader.readPieces({ ...body, children });
    const links = reader.links;
    const section = {
      headers: letterheads(properties, 'w:headerReference'),
      body: pieces,
      footers: letterheads(properties, 'w:footerReference'),
    };
    reader.links = links;
    return section;
  });
}

interface SourceSection {
  readonly children: readonly XmlElement[];
  readonly properties: XmlElement | undefined;
}

/** The properties of a section stand in its last paragraph, those of the last one at the end of the body. */
function sectionsIn(body: XmlElement): readonly SourceSection[] {
  const sections: SourceSection[] = [];
  let children: XmlElement[] = [];
  for (const child of elementsOf(body)) {
    children.push(child);
    const properties = propertiesIn(child);
    if (properties === undefined) continue;
    sections.push({ children, properties });
    children = [];
  }
  return children.length === 0 ? sections : [...sections, { children, properties: undefined }];
}

function propertiesIn(child: XmlElement): XmlElement | undefined {
  switch (child.name) {
    case 'w:sectPr':
      return child;
    case 'w:p':
      return childAt(child, 'w:pPr', 'w:sectPr');
    case 'w:sdt':
    case 'w:customXml':
      return findAll(child, 'w:sectPr').at(-1);
    default:
      return undefined;
  }
}

const KINDS = ['first', 'default', 'even'];

/** Of the first page, of odd and of even ones, where the section has such pages. */
function partsOf({
  properties,
  name,
  parts,
}: {
  readonly properties: XmlElement | undefined;
  readonly name: string;
  readonly parts: DocxParts;
}): readonly LetterheadPart[] {
  const hasFirst = toggle(properties, 'w:titlePg') ?? false;
  const shown = new Map([
    ['first', hasFirst],
    ['default', true],
    ['even', parts.hasEvenPages],
  ]);
  const references = new Map(
    elementsOf(properties, name).map(({ attributes }) => [
      attributes['w:type'] ?? 'default',
      attributes['r:id'] ?? '',
    ]),
  );
  return KINDS.filter((kind) => shown.get(kind) === true).flatMap((kind) => {
    const part = parts.letterheadAt(references.get(kind) ?? '');
    return part === undefined ? [] : [part];
  });
}

/** Behind white text there is often a picture: in a header that has one, nobody knows. */
function letterheadPieces({ root, links }: LetterheadPart, reader: DocxReader): readonly Piece[] {
  const hasPicture = ['w:drawing', 'w:pict'].some((name) => findAll(root, name).length > 0);
  Object.assign(reader, { links, fields: [], carried: [], aside: [], isLetterhead: true });
  if (hasPicture) reader.boxes += 1;
  const pieces = reader.readPieces(root);
  if (hasPicture) reader.boxes -= 1;
  reader.isLetterhead = false;
  return pieces;
}
