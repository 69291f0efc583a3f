import { childAt, findAll, elementsOf, type XmlElement } from '../office/xmlTree.ts';
import { ALONE, textPieces } from '../office/drawingText.ts';
import { diagramPieces } from '../office/diagrams.ts';
import { chartsIn, type Package } from '../office/charts.ts';
import { readPart, relationshipsOf, type Relationship } from '../office/ooxmlPackage.ts';
import {
  imagePieces,
  spanOf,
  tablePieces,
  OFFICE_LIMITS,
  RefusedDocument,
  type Piece,
  type Slot,
} from '../pieces/blocks.ts';
import { unzip } from '../pieces/archive.ts';
import type { Opener } from '../pieces/opened.ts';
import { openSlides, spokenNotes } from './openSlides.ts';

/** What a slide takes over from its layout and its master. */
interface PptxLook {
  /** The text properties of a level (from 0) of a placeholder, the nearest first. */
  readonly levelsOf: (shape: XmlElement, level: number) => readonly XmlElement[];
  /** Where a shape lies: x and y in EMU; undefined where nothing says so. */
  readonly placeOf: (shape: XmlElement) => SlidePoint | undefined;
}

interface SlidePoint {
  readonly x: number;
  readonly y: number;
}

/** What kind of place a shape fills: `title`, `body`, `dt` …; undefined of a shape of its own. */
const placeholderOf = (shape: XmlElement): XmlElement | undefined =>
  ['p:nvSpPr', 'p:nvPicPr', 'p:nvGraphicFramePr']
    .map((name) => childAt(shape, name, 'p:nvPr', 'p:ph'))
    .find((found) => found !== undefined);

/** The kind that a placeholder without one has. */
const kindOf = (placeholder: XmlElement): string => placeholder.attributes['type'] ?? 'obj';

interface Above {
  readonly layout: XmlElement | undefined;
  readonly master: XmlElement | undefined;
}

/** Master styles by kind; all other kinds have the style of bodies. */
const TITLES = new Set(['title', 'ctrTitle']);

/** What the layout and the master say of the shapes of a slide. */
function pptxLook({ layout, master }: Above): PptxLook {
  const above = [layout, master].map((part) => (part === undefined ? [] : findAll(part, 'p:sp')));
  const styles = childAt(master, 'p:txStyles');
  const chainOf = (shape: XmlElement): readonly XmlElement[] => {
    const placeholder = placeholderOf(shape);
    if (placeholder === undefined) return [shape];
    return [
      shape,
      ...above.flatMap((shapes) => shapes.find((other) => isSamePlace(placeholder, other)) ?? []),
    ];
  };
  return {
    levelsOf: (shape, level) => {
      const name = `a:lvl${String(level + 1)}pPr`;
      const own = chainOf(shape).map((one) => childAt(one, 'p:txBody', 'a:lstStyle', name));
      const placeholder = placeholderOf(shape);
      const style =
        placeholder === undefined
          ? 'p:otherStyle'
          : TITLES.has(kindOf(placeholder))
            ? 'p:titleStyle'
            : 'p:bodyStyle';
      return [...own, childAt(styles, style, name)].filter((found) => found !== undefined);
    },
    placeOf: (shape) =>
      chainOf(shape)
        .map(ownPlace)
        .find((place) => place !== undefined),
  };
}

/** A placeholder is the layout's of the same index or, without one, of the same kind. */
function isSamePlace(placeholder: XmlElement, other: XmlElement): boolean {
  const found = placeholderOf(other);
  if (found === undefined) return false;
  const { idx } = placeholder.attributes;
  if (idx !== undefined && found.attributes['idx'] === idx) return true;
  const [kind, otherKind] = [kindOf(placeholder), kindOf(found)];
  return kind === otherKind || (TITLES.has(kind) && TITLES.has(otherKind));
}

function ownPlace(shape: XmlElement): SlidePoint | undefined {
  const offset =
    childAt(shape, 'p:spPr', 'a:xfrm', 'a:off') ??
    childAt(shape, 'p:grpSpPr', 'a:xfrm', 'a:off') ??
    childAt(shape, 'p:xfrm', 'a:off');
  const [x, y] = [Number(offset?.attributes['x']), Number(offset?.attributes['y'])];
  return Number.isFinite(x) && Number.isFinite(y) ? { x, y } : undefined;
}

/** A slide while it is read. */
interface Slide extends Package {
  readonly look: PptxLook;
}

/** Placeholders that each slide repeats. */
const REPEATED = new Set(['dt', 'ftr', 'sldNum', 'hdr', 'sldImg']);

/** The shapes of a slide or group: its title first, then from top to bottom and from left to right. */
function shapePieces(tree: XmlElement | undefined, slide: Slide): readonly Piece[] {
  const shapes = elementsOf(tree).flatMap(alternative);
  let before: SlidePoint = { x: 0, y: 0 };
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

const MIME_TYPE = 'application/vnd.openxmlformats-officedocument.presentationml.presentation';
const UNWANTED = /(?:^|\/)(?:theme|customXml|docProps|media|embeddings|fonts|handoutMasters|tags)\//;
/** PowerPoint itself grows slow long before. */
const SLIDES_MAX = 10_000;

type Members = ReadonlyMap<string, Uint8Array>;

/** Opens a PowerPoint presentation: a page for each slide that is shown, with its speaker's notes at its end. */
export const openPptx: Opener = ({ bytes }) =>
  Promise.resolve(
    openSlides(MIME_TYPE, () => {
      const wanted = (name: string): boolean => /\.(?:xml|rels)$/i.test(name) && !UNWANTED.test(name);
      const archive = unzip(bytes, wanted, OFFICE_LIMITS);
      if (archive.kind === 'unreadable') throw new RefusedDocument(archive.detail);
      const parts = slideParts(archive.members);
      const slides = parts.map((part) => ({ part, root: readPart(archive.members.get(part)) }));
      const shown = slides.filter(({ root }) => root?.attributes['show'] !== '0');
      return {
        slides: shown.map(({ part, root }) =>
          root === undefined ? [] : slidePieces(root, part, archive.members),
        ),
        hasHidden: shown.length < slides.length,
      };
    }),
  );

/** The parts of the slides, in their order, each once. */
function slideParts(members: Members): readonly string[] {
  const main = relationshipsOf(members, '').find(({ type }) => type === 'officeDocument')?.target;
  const name = main !== undefined && members.has(main) ? main : 'ppt/presentation.xml';
  const root = readPart(members.get(name));
  if (root === undefined) throw new RefusedDocument('The presentation has no part that names its slides.');
  const targets = new Map(relationshipsOf(members, name).map(({ id, target }) => [id, target]));
  const ids = elementsOf(childAt(root, 'p:sldIdLst'), 'p:sldId');
  if (ids.length > SLIDES_MAX) throw new RefusedDocument('The presentation has too many slides.');
  return [...new Set(ids.flatMap(({ attributes }) => targets.get(attributes['r:id'] ?? '') ?? []))];
}

function slidePieces(root: XmlElement, part: string, members: Members): readonly Piece[] {
  const near = relationshipsOf(members, part);
  const look = pptxLook(partsAbove(near, members));
  const targets = new Map(near.map(({ id, target }) => [id, target]));
  const tree = childAt(root, 'p:cSld', 'p:spTree');
  return [...shapePieces(tree, { look, targets, members }), ...notesOf(near, members)];
}

/** The slide's layout and, of it, the master. */
function partsAbove(near: readonly Relationship[], members: Members) {
  const layoutName = targetOf(near, 'slideLayout');
  const layout = layoutName === undefined ? undefined : readPart(members.get(layoutName));
  const above = layoutName === undefined ? [] : relationshipsOf(members, layoutName);
  const masterName = targetOf(above, 'slideMaster');
  return { layout, master: masterName === undefined ? undefined : readPart(members.get(masterName)) };
}

const targetOf = (near: readonly Relationship[], type: string): string | undefined =>
  near.find((relationship) => relationship.type === type && !relationship.isExternal)?.target;

function notesOf(near: readonly Relationship[], members: Members): readonly Piece[] {
  const name = targetOf(near, 'notesSlide');
  const root = name === undefined ? undefined : readPart(members.get(name));
  const bodies = findAll(root, 'p:sp').filter(
    (shape) => childAt(shape, 'p:nvSpPr', 'p:nvPr', 'p:ph')?.attributes['type'] === 'body',
  );
  return spokenNotes(bodies.flatMap((body) => textPieces(childAt(body, 'p:txBody'))));
}
