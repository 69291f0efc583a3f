import { posix } from 'node:path';
import { RefusedDocument } from '../pieces/blocks.ts';
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
  'http://schemas.openxmlformats.org/drawingml/2006/chart': 'c',
  'http://purl.oclc.org/ooxml/drawingml/chart': 'c',
  'http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing': 'xdr',
  'http://purl.oclc.org/ooxml/drawingml/spreadsheetDrawing': 'xdr',
  'http://schemas.openxmlformats.org/spreadsheetml/2006/main': '',
  'http://purl.oclc.org/ooxml/spreadsheetml/main': '',
  'http://schemas.openxmlformats.org/markup-compatibility/2006': 'mc',
  'http://schemas.openxmlformats.org/presentationml/2006/main': 'p',
  'http://purl.oclc.org/ooxml/presentationml/main': 'p',
  'http://schemas.openxmlformats.org/drawingml/2006/diagram': 'dgm',
  'http://purl.oclc.org/ooxml/drawingml/diagram': 'dgm',
  'urn:schemas-microsoft-com:vml': 'v',
  'http://schemas.openxmlformats.org/package/2006/relationships': '',
};

/** Where a part of a package points to. */
export interface Relationship {
  readonly id: string;
  /** The last step of its type: `styles`, `hyperlink` … */
  readonly type: string;
  readonly target: string;
  readonly isExternal: boolean;
}

/** Parts that were read: a part may be pointed to as often as a file likes. */
const READ = new WeakMap<Uint8Array, XmlElement | undefined>();

/** A part as a tree; undefined where there is none. Throws `RefusedDocument` where it cannot be read. */
export function readPart(bytes: Uint8Array | undefined): XmlElement | undefined {
  if (bytes === undefined) return undefined;
  if (READ.has(bytes)) return READ.get(bytes);
  const xml = parseXml(bytes, PREFIXES);
  if (xml.kind === 'unreadable') throw new RefusedDocument(xml.detail);
  READ.set(bytes, xml.root);
  return xml.root;
}

/** What a part points to, with the names of the members. */
export function relationshipsOf(
  members: ReadonlyMap<string, Uint8Array>,
  part: string,
): readonly Relationship[] {
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
