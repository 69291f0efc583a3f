import type { Piece } from '../pieces/blocks.ts';
import type { Package } from './charts.ts';
import { textPieces } from './drawingText.ts';
import { readPart } from './ooxmlPackage.ts';
import { childAt, findAll, type XmlElement } from './xmlTree.ts';

/** The texts of a diagram (SmartArt), in the order in which they were written; none where the data is of none. */
export function diagramPieces(data: XmlElement | undefined, { targets, members }: Package): readonly Piece[] {
  const part = targets.get(childAt(data, 'dgm:relIds')?.attributes['r:dm'] ?? '');
  const model = part === undefined ? undefined : readPart(members.get(part));
  return findAll(model, 'dgm:pt')
    .flatMap((point) => textPieces(childAt(point, 'dgm:t')))
    .filter(({ runs }) => runs.length > 0)
    .map((piece): Piece => ({ ...piece, role: { kind: 'list_item', level: 1 } }));
}
