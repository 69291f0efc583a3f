import type { Label, Piece, Role } from '../pieces/blocks.ts';
import { isUnfilled, preferred, type DocxReader } from './docxReader.ts';
import { runsIn } from './docxRuns.ts';
import { firstSaid, roleOf, valueOf, type DocxStyle } from './docxStyles.ts';
import { docxTable } from './docxTables.ts';
import { mathText } from '../office/mathText.ts';
import { plainRun, type Run } from '../pieces/runs.ts';
import { childAt, elementsOf, type XmlElement } from '../office/xmlTree.ts';

const TRANSPARENT = new Set(['w:ins', 'w:moveTo', 'w:smartTag', 'w:customXml', 'w:sdtContent', 'w:sdt']);

/** Paragraphs and tables of a body, cell, note or frame, in their order. */
export function piecesIn(parent: XmlElement, reader: DocxReader): readonly Piece[] {
  const pieces = elementsOf(parent).flatMap((child) => piecesOf(child, reader));
  const rest = reader.carried;
  reader.carried = [];
  return rest.length === 0 ? pieces : [...pieces, textPiece(rest)];
}

function piecesOf(child: XmlElement, reader: DocxReader): readonly Piece[] {
  if (isUnfilled(child)) return [];
  if (TRANSPARENT.has(child.name)) return elementsOf(child).flatMap((inner) => piecesOf(inner, reader));
  switch (child.name) {
    case 'w:p':
      return paragraphPieces(child, reader);
    case 'w:tbl':
      return docxTable(child, reader);
    case 'w:altChunk':
      return reader.readChunk(child.attributes['r:id'] ?? '');
    case 'm:oMath':
    case 'm:oMathPara':
      return [textPiece([plainRun(mathText(child))])];
    case 'mc:AlternateContent':
      return elementsOf(preferred(child)).flatMap((inner) => piecesOf(inner, reader));
    default:
      return [];
  }
}

const textPiece = (runs: readonly Run[]): Piece => ({
  kind: 'text',
  role: { kind: 'paragraph' },
  label: null,
  runs,
});

function paragraphPieces(paragraph: XmlElement, reader: DocxReader): readonly Piece[] {
  const properties = childAt(paragraph, 'w:pPr');
  const styleId = valueOf(properties, 'w:pStyle') ?? reader.paragraphDefault;
  const chain = reader.chainOf(styleId);
  reader.aside = [];
  const before = reader.carried;
  reader.carried = [];
  const runs = [...before, ...runsIn(paragraph, { properties, chain, link: null }, reader)];
  const { aside } = reader;
  reader.aside = [];
  // An instruction that goes on past its paragraph is damaged; it must not swallow the rest.
  reader.fields = reader.fields.filter(({ isShown }) => isShown).map((field) => ({ ...field, link: null }));
  if (childAt(properties, 'w:rPr', 'w:del') !== undefined) {
    reader.carried = [...runs];
    return aside;
  }
  const role = roleOf(properties, chain);
  const numbered = numberOf({ properties, chain }, reader);
  return [
    { kind: 'text', role: numberedRole(role, numbered), label: numbered?.label ?? null, runs },
    ...aside,
  ];
}

interface Numbered {
  readonly level: number;
  readonly label: Label;
}

const numberedRole = (role: Role, numbered: Numbered | null): Role =>
  numbered !== null && role.kind === 'paragraph' ? { kind: 'list_item', level: numbered.level } : role;

interface Styled {
  readonly properties: XmlElement | undefined;
  readonly chain: readonly DocxStyle[];
}

/** The place of a paragraph in a numbering, its own or its style's. Number 0 takes it out of all. */
function numberOf({ properties, chain }: Styled, { numbering }: DocxReader): Numbered | null {
  const own = childAt(properties, 'w:numPr');
  const styled = chain.find(
    ({ paragraph }) => valueOf(childAt(paragraph, 'w:numPr'), 'w:numId') !== undefined,
  );
  const ownId = valueOf(own, 'w:numId');
  const ofStyle = childAt(styled?.paragraph, 'w:numPr');
  const id = ownId ?? valueOf(ofStyle, 'w:numId');
  if (id === undefined || id === '0') return null;
  const said =
    valueOf(own, 'w:ilvl') ??
    firstSaid(chain, ({ paragraph }) => valueOf(childAt(paragraph, 'w:numPr'), 'w:ilvl'));
  const linked = ownId === undefined ? chain.map((style) => numbering.levelOfStyle(id, style.id)) : [];
  const level = linked.find((at) => at !== undefined) ?? Number(said ?? '0');
  const label = numbering.next(id, level);
  return label === null ? null : { level, label };
}
