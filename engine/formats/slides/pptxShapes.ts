import { ALONE, textPieces } from '../office/drawingText.ts';
import { chartsIn, type Package } from '../office/charts.ts';
import { diagramPieces } from '../office/diagrams.ts';
import { childAt, elementsOf, type XmlElement } from '../office/xmlTree.ts';
import { imagePieces, type Piece } from '../pieces/blocks.ts';
import { spanOf, tablePieces, type Slot } from '../pieces/tables.ts';
import { kindOf, placeholderOf, type Place, type PptxLook } from './pptxLook.ts';

/** A slide while it is read. */
export interface Slide extends Package {
  readonly look: PptxLook;
}

/** Placeholders that each slide repeats. */
const REPEATED = new Set(['dt', 'ftr', 'sldNum', 'hdr', 'sldImg']);
const TITLES = new Set(['title', 'ctrTitle']);

/** The shapes of a slide or group: its title first, then from top to bottom and from left to right. */
export function shapePieces(tree: XmlElement | undefined, slide: Slide): readonly Piece[] {
  const shapes = elementsOf(tree).flatMap(alternative);
  let before: Place = { x: 0, y: 0 };
  const placed = shapes.map((shape) => {
    before = slide.look.placeOf(shape) ?? before;
    return { shape, isTitle: isTitle(shape), ...before };
  });
  placed.sort((a, b) => Number(b.isTitle) - Number(a.isTitle) || a.y - b.y || a.x - b.x);
  return placed.flatMap(({ shape }) => piecesOfShape(shape, slide));
}

const isTitle = (shape: XmlElement): boolean => {
  const placeholder = placeholderOf(shape);
  return placeholder !== undefined && TITLES.has(kindOf(placeholder));
};

/** Of alternatives the first that holds anything: it is for readers that know more. */
const alternative = (element: XmlElement): readonly XmlElement[] =>
  element.name === 'mc:AlternateContent'
    ? elementsOf(elementsOf(element).find((choice) => elementsOf(choice).length > 0))
    : [element];

function piecesOfShape(shape: XmlElement, slide: Slide): readonly Piece[] {
  switch (shape.name) {
    case 'p:sp':
      return isUnseen(shape) ? [] : placeholderPieces(shape, slide);
    case 'p:grpSp':
      return isUnseen(shape) ? [] : shapePieces(shape, slide);
    case 'p:graphicFrame':
      return framePieces(shape, slide);
    case 'p:pic':
      return imagePieces(childAt(shape, 'p:nvPicPr', 'p:cNvPr')?.attributes['descr']);
    default:
      return [];
  }
}

const isUnseen = (shape: XmlElement): boolean =>
  [childAt(shape, 'p:nvSpPr', 'p:cNvPr'), childAt(shape, 'p:nvGrpSpPr', 'p:cNvPr')].some(
    (properties) => properties?.attributes['hidden'] === '1',
  );

function placeholderPieces(shape: XmlElement, { look, targets }: Slide): readonly Piece[] {
  const placeholder = placeholderOf(shape);
  if (placeholder !== undefined && REPEATED.has(kindOf(placeholder))) return [];
  const body = childAt(shape, 'p:txBody');
  if (!isTitle(shape)) return textPieces(body, { levelsOf: (level) => look.levelsOf(shape, level), targets });
  const runs = textPieces(body, { levelsOf: () => [], targets }).flatMap((piece, index) =>
    index === 0 ? piece.runs : [{ ...SPACE, text: ' ' }, ...piece.runs],
  );
  return [{ kind: 'text', role: { kind: 'heading', level: 1 }, label: null, runs }];
}

const SPACE = { bold: false, italic: false, strike: false, link: null, note: null } as const;

function framePieces(frame: XmlElement, slide: Slide): readonly Piece[] {
  const data = childAt(frame, 'a:graphic', 'a:graphicData');
  const table = childAt(data, 'a:tbl');
  if (table !== undefined) return tableOf(table, slide);
  const charts = chartsIn(frame, slide).map((block): Piece => ({ kind: 'block', block }));
  return [...charts, ...diagramPieces(data, slide)];
}

function tableOf(table: XmlElement, { targets }: Slide): readonly Piece[] {
  const rows = elementsOf(table, 'a:tr').map((row) =>
    elementsOf(row, 'a:tc').flatMap((cell) => slotOf(cell, targets)),
  );
  const hasHeader = childAt(table, 'a:tblPr')?.attributes['firstRow'] === '1';
  return tablePieces(rows, hasHeader ? 1 : 0);
}

/** Places that a cell to the left covers are counted by its span; those covered from above are gaps. */
function slotOf(cell: XmlElement, targets: ReadonlyMap<string, string>): readonly Slot[] {
  const { gridSpan, rowSpan, hMerge, vMerge } = cell.attributes;
  if (isOn(hMerge) && !isOn(vMerge)) return [];
  if (isOn(vMerge)) return [{ kind: 'gap', columns: 1 }];
  const pieces = textPieces(childAt(cell, 'a:txBody'), { ...ALONE, targets });
  const spans = { columnSpan: spanOf(Number(gridSpan ?? '1')), rowSpan: spanOf(Number(rowSpan ?? '1')) };
  return [{ kind: 'cell', cell: { pieces, ...spans } }];
}

const isOn = (value: string | undefined): boolean => value === '1' || value === 'true';
