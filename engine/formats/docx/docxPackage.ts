import { unzip } from '../pieces/archive.ts';
import { OFFICE_LIMITS, RefusedDocument } from '../pieces/blocks.ts';
import type { Package } from '../office/charts.ts';
import { readPart, relationshipsOf, type Relationship } from '../office/ooxmlPackage.ts';
import { toggle } from './docxStyles.ts';
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
  /** Where charts and diagrams of the body are. */
  readonly drawn: Package;
  /** Even pages have headers and footers of their own. */
  readonly hasEvenPages: boolean;
  /** A header or footer, by its relationship id. */
  readonly letterheadAt: (id: string) => LetterheadPart | undefined;
  /** The documents that stand in this one as a whole. */
  readonly chunks: () => readonly DocxChunk[];
}

/** A header or footer as it stands in the package. */
export interface LetterheadPart {
  readonly name: string;
  readonly root: XmlElement;
  readonly links: ReadonlyMap<string, string>;
}

/** A document that stands in another one as a whole, under the id that the text calls it by. */
export interface DocxChunk {
  readonly id: string;
  readonly bytes: Buffer;
}

/** What a document and all those inside it may still be unpacked to. */
export interface UnpackBudget {
  bytes: number;
}

export const unpackBudget = (): UnpackBudget => ({ bytes: OFFICE_LIMITS.bytesMax });

const UNWANTED = /(?:^|\/)(?:theme|customXml|docProps|media|embeddings|fonts|glossary)\//;
/** Of charts and diagrams only what they say, and nothing of their look. */
const LOOKS = /(?:^|\/)(?:charts|diagrams)\/(?!chart\d*\.xml|data\d*\.xml)/;
type Members = ReadonlyMap<string, Uint8Array>;

/** Reads the parts; throws `RefusedDocument` where the file cannot be read. */
export function docxParts(bytes: Uint8Array, budget: UnpackBudget): DocxParts {
  const isText = (name: string): boolean =>
    /\.(?:xml|rels)$/i.test(name) && !UNWANTED.test(name) && !LOOKS.test(name);
  const members = unpacked(bytes, isText, budget);
  const partAt = (name: string | undefined): XmlElement | undefined =>
    name === undefined ? undefined : readPart(members.get(name));
  const main = mainPart(members);
  const document = partAt(main);
  if (document === undefined) throw new RefusedDocument('The document has no text part.');
  const near = relationshipsOf(members, main).filter(({ isExternal }) => !isExternal);
  const nameOf = (type: string): string | undefined => near.find((one) => one.type === type)?.target;
  const [footnotes, endnotes] = [nameOf('footnotes'), nameOf('endnotes')];
  return {
    document,
    styles: partAt(nameOf('styles')),
    numbering: partAt(nameOf('numbering')),
    footnotes: partAt(footnotes),
    endnotes: partAt(endnotes),
    links: {
      document: linksOf(members, main),
      footnotes: footnotes === undefined ? new Map() : linksOf(members, footnotes),
      endnotes: endnotes === undefined ? new Map() : linksOf(members, endnotes),
    },
    drawn: { targets: targetsOf(near, ['chart', 'diagramData']), members },
    hasEvenPages: toggle(partAt(nameOf('settings')), 'w:evenAndOddHeaders') ?? false,
    letterheadAt: letterheads(near, members),
    chunks: () => chunksOf(near, (wanted) => unpacked(bytes, wanted, budget)),
  };
}

function unpacked(bytes: Uint8Array, wanted: (name: string) => boolean, budget: UnpackBudget): Members {
  const archive = unzip(bytes, wanted, { ...OFFICE_LIMITS, bytesMax: budget.bytes });
  if (archive.kind === 'unreadable') throw new RefusedDocument(archive.detail);
  for (const member of archive.members.values()) budget.bytes -= member.length;
  return archive.members;
}

function mainPart(members: Members): string {
  const main = relationshipsOf(members, '').find(({ type }) => type === 'officeDocument')?.target;
  return main !== undefined && members.has(main) ? main : 'word/document.xml';
}

const linksOf = (members: Members, part: string): ReadonlyMap<string, string> =>
  new Map(
    relationshipsOf(members, part)
      .filter(({ type, isExternal }) => type === 'hyperlink' && isExternal)
      .map(({ id, target }) => [id, target]),
  );

const targetsOf = (near: readonly Relationship[], types: readonly string[]): ReadonlyMap<string, string> =>
  new Map(near.filter(({ type }) => types.includes(type)).map(({ id, target }) => [id, target]));

function letterheads(near: readonly Relationship[], members: Members): DocxParts['letterheadAt'] {
  const targets = targetsOf(near, ['header', 'footer']);
  return (id) => {
    const name = targets.get(id);
    const root = name === undefined ? undefined : readPart(members.get(name));
    return name === undefined || root === undefined
      ? undefined
      : { name, root, links: linksOf(members, name) };
  };
}

/** They are unpacked by themselves, for they are of any format; one that has two ids is read once. */
function chunksOf(
  near: readonly Relationship[],
  unpack: (wanted: (name: string) => boolean) => Members,
): readonly DocxChunk[] {
  const ids = new Map([...targetsOf(near, ['aFChunk'])].map(([id, target]) => [target, id]));
  if (ids.size === 0) return [];
  const members = unpack((name) => ids.has(name));
  return [...members].map(([name, bytes]) => ({ id: ids.get(name) ?? '', bytes: Buffer.from(bytes) }));
}
