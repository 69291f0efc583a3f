import type { Piece } from '../pieces/blocks.ts';
import type { Section } from '../pieces/letterheads.ts';
import type { OdfContent } from './odfContent.ts';
import type { OdtReader } from './odtRuns.ts';
import { childAt, elementsOf, findAll, type XmlElement } from '../office/xmlTree.ts';

/** Page styles that follow each other; more are damage. */
const FOLLOWING_MAX = 16;
const STANDARD = 'Standard';

/** The sections of a text, by the page styles that its paragraphs and tables begin, each style's headers once. */
export function odtSections(
  text: XmlElement,
  { reader, named, hasWhitePages }: OdfContent,
): readonly Section[] {
  const masters = new Map(
    elementsOf(childAt(named.root, 'office:master-styles'), 'style:master-page').map((master) => [
      master.attributes['style:name'] ?? '',
      master,
    ]),
  );
  const said = new Set<string>();
  return sectionsIn(text, reader).map(({ master, children }, index) => {
    const isFirst = index === 0;
    const start = master ?? (isFirst ? firstMaster(masters) : '');
    const styles = followers(masters, start).filter(({ attributes }) => {
      const name = attributes['style:name'] ?? '';
      const isNew = !said.has(name);
      said.add(name);
      return isNew;
    });
    const read = (kind: string): readonly (readonly Piece[])[] =>
      styles.flatMap((style) =>
        letterheads(style, kind).map((part) => piecesIn(part, named.reader, hasWhitePages)),
      );
    return {
      headers: read('header'),
      body: reader.readPieces({ ...text, children }),
      footers: read('footer'),
    };
  });
}

const firstMaster = (masters: ReadonlyMap<string, XmlElement>): string =>
  masters.has(STANDARD) ? STANDARD : ([...masters.keys()][0] ?? '');

interface SourceSection {
  /** The page style that it begins with; undefined: none is named. */
  readonly master: string | undefined;
  readonly children: readonly XmlElement[];
}

function sectionsIn(text: XmlElement, reader: OdtReader): readonly SourceSection[] {
  const sections: { master: string | undefined; children: XmlElement[] }[] = [
    { master: undefined, children: [] },
  ];
  let isEmpty = true;
  for (const child of elementsOf(text)) {
    const master = masterOf(child, reader);
    const last = sections.at(-1);
    if (master !== undefined && isEmpty && last !== undefined) last.master = master;
    else if (master !== undefined) sections.push({ master, children: [] });
    isEmpty &&= master === undefined && !BEGINS.has(child.name);
    sections.at(-1)?.children.push(child);
  }
  return sections;
}

const BEGINS = new Set(['text:p', 'text:h', 'text:list', 'table:table', 'text:section']);

/** The page style that a block begins: its own, that of its style, or that of its first paragraph. */
function masterOf(block: XmlElement, reader: Pick<OdtReader, 'styles'>): string | undefined {
  const isTable = block.name === 'table:table';
  const chain = reader.styles.chainOf(
    isTable ? 'table' : 'paragraph',
    block.attributes[isTable ? 'table:style-name' : 'text:style-name'],
  );
  const named = chain
    .map(({ attributes }) => attributes['style:master-page-name'] ?? '')
    .find((name) => name !== '');
  if (named !== undefined || !INSIDE.has(block.name)) return named;
  const [first] = elementsOf(block);
  return first === undefined ? undefined : masterOf(first, reader);
}

const INSIDE = new Set(['text:list', 'text:list-item', 'text:section']);

/** A page style and those of the pages after it. */
function followers(masters: ReadonlyMap<string, XmlElement>, from: string): readonly XmlElement[] {
  const found = new Set<XmlElement>();
  let master = masters.get(from);
  while (master !== undefined && !found.has(master) && found.size < FOLLOWING_MAX) {
    found.add(master);
    master = masters.get(master.attributes['style:next-style-name'] ?? '');
  }
  return [...found];
}

/** Of the first page, of right and of left ones; those that are switched off are not seen. */
const letterheads = (master: XmlElement, kind: string): readonly XmlElement[] =>
  [`${kind}-first`, kind, `${kind}-left`].flatMap((name) =>
    elementsOf(master).filter(
      (part) => part.name === `style:${name}` && part.attributes['style:display'] !== 'false',
    ),
  );

/** Behind white text there is often a picture: in a header that has one, nobody knows. */
function piecesIn(part: XmlElement, reader: OdtReader, hasWhitePages: boolean): readonly Piece[] {
  reader.onPaper =
    hasWhitePages && ['draw:frame', 'draw:custom-shape'].every((name) => findAll(part, name).length === 0);
  return reader.readPieces(part);
}
