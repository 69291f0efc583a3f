import { textPieces } from '../office/drawingText.ts';
import { unzip } from '../archive.ts';
import { readPart, relationshipsOf, type Relationship } from '../office/ooxmlPackage.ts';
import { childAt, elementsOf, findAll, type XmlElement } from '../office/xmlTree.ts';
import type { Opener } from '../opened.ts';
import { OFFICE_LIMITS, RefusedDocument, type Piece } from '../pieces/blocks.ts';
import { openSlides, spokenNotes } from './openSlides.ts';
import { pptxLook } from './pptxLook.ts';
import { shapePieces } from './pptxShapes.ts';

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
