import type { Block } from '../../document/document.ts';
import { chartsIn } from '../office/charts.ts';
import { textPieces } from '../office/drawingText.ts';
import { readPart, relationshipsOf } from '../office/ooxmlPackage.ts';
import { childAt, elementsOf, findAll, textIn } from '../office/xmlTree.ts';
import { blocksOf, RefusedDocument } from '../pieces/blocks.ts';

/** A chart or text box at the row where its upper edge lies. */
export interface PlacedDrawing {
  readonly row: number;
  readonly blocks: readonly Block[];
}

type Members = ReadonlyMap<string, Uint8Array>;

const DRAWINGS_MAX = 100;
/** Pictures and shapes without text stand among them. */
const ANCHORS_MAX = 10_000;

/** What the charts and text boxes of a workbook show, as it keeps them, by sheet name. */
export function drawingsBySheet(members: Members): ReadonlyMap<string, readonly PlacedDrawing[]> {
  try {
    const targets = new Map(
      relationshipsOf(members, 'xl/workbook.xml').map(({ id, target }) => [id, target]),
    );
    const sheets = elementsOf(childAt(readPart(members.get('xl/workbook.xml')), 'sheets'), 'sheet');
    return new Map(
      sheets.map(({ attributes }) => {
        const part = targets.get(attributes['r:id'] ?? '') ?? '';
        return [attributes['name'] ?? '', drawingsOf(members, part)];
      }),
    );
  } catch (error) {
    if (error instanceof RefusedDocument) return new Map();
    throw error;
  }
}

const drawingsOf = (members: Members, sheet: string): readonly PlacedDrawing[] =>
  relationshipsOf(members, sheet)
    .filter(({ type }) => type === 'drawing')
    .slice(0, DRAWINGS_MAX)
    .flatMap(({ target }) => drawingsIn(members, target))
    .slice(0, DRAWINGS_MAX)
    .sort((a, b) => a.row - b.row);

function drawingsIn(members: Members, drawing: string): readonly PlacedDrawing[] {
  const targets = new Map(relationshipsOf(members, drawing).map(({ id, target }) => [id, target]));
  const anchors = elementsOf(readPart(members.get(drawing))).slice(0, ANCHORS_MAX);
  return anchors.flatMap((anchor) => {
    const texts = findAll(anchor, 'xdr:txBody').flatMap((body) => textPieces(body));
    const blocks = [...blocksOf(texts), ...chartsIn(anchor, { targets, members })];
    return blocks.length === 0
      ? []
      : [{ row: Number(textIn(childAt(anchor, 'xdr:from', 'xdr:row'))) || 0, blocks }];
  });
}
