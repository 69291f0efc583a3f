import type { Piece } from '../pieces/blocks.ts';
import type { Package } from '../office/charts.ts';
import type { Numbering } from '../office/numbering.ts';
import { toggle, type StyleChains } from './docxStyles.ts';
import type { Run } from '../pieces/runs.ts';
import { childAt, type XmlElement } from '../office/xmlTree.ts';

/** A field begins with its instruction; what follows `separate` is its shown result. */
export interface Field {
  instruction: string;
  isShown: boolean;
  link: string | null;
  /** Its result has text. */
  hasText: boolean;
}

/** Deeper ones are damage. */
export const FIELDS_MAX = 64;

export type NoteKind = 'footnotes' | 'endnotes';

/** What reading a document remembers from paragraph to paragraph. */
export interface DocxReader {
  readonly chainOf: StyleChains;
  readonly paragraphDefault: string | undefined;
  readonly numbering: Numbering;
  /** Link destinations of the part that is being read, by relationship id. */
  links: ReadonlyMap<string, string>;
  fields: Field[];
  /** Notes in the order of their marks. */
  readonly notes: { readonly kind: NoteKind; readonly id: string }[];
  /** Their numbers, by kind and id. */
  readonly noteNumbers: Map<string, number>;
  /** Runs of paragraphs whose end was deleted: they go on in the next one. */
  carried: Run[];
  /** Frames and images of the paragraph that is being read: they follow it. */
  aside: Piece[];
  /** How many tables and frames are around: their background is not known. */
  boxes: number;
  /** A header or footer is being read: it stands on many pages. */
  isLetterhead: boolean;
  /** Where charts and diagrams are. */
  readonly drawn: Package;
  /** Whether the page itself has a colour. */
  readonly isColoured: boolean;
  hasHidden: boolean;
  /** Reads paragraphs and tables. */
  readonly readPieces: (parent: XmlElement) => readonly Piece[];
  /** Reads a document of whatever format that stands in this one as a whole. */
  readonly readChunk: (relationship: string) => readonly Piece[];
}

/** The number of a note by its mark; each mark of one note has the same. */
export function noteNumber(reader: DocxReader, kind: NoteKind, id: string): number {
  const key = `${kind} ${id}`;
  const number = reader.noteNumbers.get(key) ?? reader.notes.push({ kind, id });
  reader.noteNumbers.set(key, number);
  return number;
}

/** Of alternatives the one for readers that know more, or the other where it is empty. */
export const preferred = (alternates: XmlElement): XmlElement | undefined => {
  const [first, second] = alternates.children.filter((child) => typeof child !== 'string');
  return first !== undefined && first.children.length > 0 ? first : (second ?? first);
};

/** Whether a control shows its prompt, for nobody has filled it in. */
export const isUnfilled = (element: XmlElement): boolean =>
  element.name === 'w:sdt' && toggle(childAt(element, 'w:sdtPr'), 'w:showingPlcHdr') === true;
