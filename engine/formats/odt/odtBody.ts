import type { Label, Piece, Role } from '../pieces/blocks.ts';
import { odtRuns, type OdtReader } from './odtRuns.ts';
import { roleOfChain, type OdtLevel } from './odtStyles.ts';
import { odtTable } from './odtTables.ts';
import { plainRun } from '../pieces/runs.ts';
import { elementsOf, type XmlElement } from '../office/xmlTree.ts';
import { formatNumber } from '../office/numberFormats.ts';

/** The last number given at each level, from 1. */
type OdtCounters = Map<number, number>;

const LEVELS = 10;

/** Counts one on at a level and says how that is shown; null where the level shows nothing. */
function labelOfLevel(
  levels: ReadonlyMap<number, OdtLevel>,
  at: number,
  counters: OdtCounters,
): Label | null {
  const level = levels.get(at);
  if (level?.isNumbered !== true) return levels.size === 0 ? null : BULLET;
  const number = (counters.get(at) ?? level.start - 1) + 1;
  counters.set(at, number);
  for (let inner = at + 1; inner <= LEVELS; inner += 1) counters.delete(inner);
  if (level.format === '') return null;
  const numbers = numbersShown(levels, at, counters);
  return {
    number: isPlain(level) && numbers.length === 1 ? number : null,
    text: `${level.prefix}${numbers.join('.')}${level.suffix}`.trim(),
  };
}

const BULLET: Label = { number: null, text: '' };

const isPlain = ({ format, prefix, suffix }: OdtLevel): boolean =>
  format === '1' && prefix === '' && /^[.)]?$/.test(suffix.trim());

/** The numbers of the level and of as many around it as it shows. */
function numbersShown(
  levels: ReadonlyMap<number, OdtLevel>,
  at: number,
  counters: OdtCounters,
): readonly string[] {
  const shown = Math.min(at, Math.max(1, levels.get(at)?.shown ?? 1));
  return Array.from({ length: shown }, (_, index) => at - shown + 1 + index)
    .map((level) =>
      formatNumber(counters.get(level) ?? levels.get(level)?.start ?? 1, levels.get(level)?.format ?? ''),
    )
    .filter((number) => number !== '');
}

/** The list around: its style, how deep it is (from 1), and the numbers given in it. */
interface List {
  readonly levels: ReadonlyMap<number, OdtLevel>;
  readonly depth: number;
  readonly counters: OdtCounters;
}

/** A paragraph of a list item has its label; the ones that follow in the item have none. */
interface ListPosition {
  readonly list: List | null;
  readonly label: Label | null;
  readonly isItem: boolean;
}

const OUTSIDE: ListPosition = { list: null, label: null, isItem: false };
const UNSEEN = new Set(['text:tracked-changes', 'office:forms', 'text:sequence-decls', 'office:annotation']);

/** Reads the bodies, cells, frames and notes of one document. */
export function odtPieces(reader: () => OdtReader, finished: Map<string, OdtCounters>) {
  const headings: OdtCounters = new Map();
  const ofBody = { reader, finished, headings };
  return (parent: XmlElement): readonly Piece[] =>
    elementsOf(parent).flatMap((child) => piecesOf(child, OUTSIDE, ofBody));
}

interface Body {
  readonly reader: () => OdtReader;
  /** The numbers of lists that others may continue, by list style and by id. */
  readonly finished: Map<string, OdtCounters>;
  readonly headings: OdtCounters;
}

function piecesOf(element: XmlElement, place: ListPosition, body: Body): readonly Piece[] {
  if (UNSEEN.has(element.name)) return [];
  switch (element.name) {
    case 'text:p':
    case 'text:h':
      return paragraphPieces(element, place, body);
    case 'text:list':
      return listPieces(element, place, body);
    case 'draw:control':
      return controlPieces(element, body.reader());
    case 'table:table':
      return odtTable(element, body.reader());
    case 'text:section':
      return element.attributes['text:display'] === 'none'
        ? hiddenPieces(body.reader())
        : elementsOf(element).flatMap((child) => piecesOf(child, place, body));
    case 'text:index-title-template':
      return [];
    default:
      return elementsOf(element).flatMap((child) => piecesOf(child, place, body));
  }
}

/** A field that stands on a page, not in a line. */
function controlPieces({ attributes }: XmlElement, { controls }: OdtReader): readonly Piece[] {
  const text = controls.get(attributes['draw:control'] ?? '') ?? '';
  return text === ''
    ? []
    : [{ kind: 'text', role: { kind: 'paragraph' }, label: null, runs: [plainRun(text)] }];
}

function hiddenPieces(reader: OdtReader): readonly Piece[] {
  reader.hasHidden = true;
  return [];
}

function paragraphPieces(paragraph: XmlElement, place: ListPosition, body: Body): readonly Piece[] {
  const reader = body.reader();
  const name = paragraph.attributes['text:style-name'];
  const chain = reader.styles.chainOf('paragraph', name);
  reader.aside = [];
  const runs = odtRuns(paragraph, chain, reader);
  const { aside } = reader;
  reader.aside = [];
  const role = roleOf(paragraph, roleOfChain(chain, name));
  const label = place.label ?? headingLabel(paragraph, role, body);
  const isItem = place.isItem && role.kind === 'paragraph';
  const depth = place.list?.depth ?? 1;
  return [{ kind: 'text', role: isItem ? { kind: 'list_item', level: depth } : role, label, runs }, ...aside];
}

function roleOf({ name, attributes }: XmlElement, styled: Role): Role {
  if (name !== 'text:h' || styled.kind === 'title') return styled;
  return { kind: 'heading', level: Number(attributes['text:outline-level'] ?? '1') || 1 };
}

/** The number that a heading has by its level. */
function headingLabel({ attributes }: XmlElement, role: Role, { reader, headings }: Body): Label | null {
  if (role.kind !== 'heading' || attributes['text:is-list-header'] === 'true') return null;
  const { outline } = reader().styles;
  return outline.size === 0 ? null : labelOfLevel(outline, role.level, headings);
}

function listPieces(element: XmlElement, place: ListPosition, body: Body): readonly Piece[] {
  const list = listOf(element, place, body);
  return elementsOf(element).flatMap((item) => {
    if (item.name !== 'text:list-item' && item.name !== 'text:list-header') return [];
    return itemPieces(item, list, body);
  });
}

/** An inner list without a style goes on with that of the list around. */
function listOf({ attributes }: XmlElement, { list: outer }: ListPosition, body: Body): List {
  const style = attributes['text:style-name'];
  const levels = style === undefined && outer !== null ? outer.levels : body.reader().styles.levelsOf(style);
  const counters = outer?.counters ?? countersOf(attributes, body.finished);
  if (style !== undefined) body.finished.set(`style ${style}`, counters);
  const id = attributes['xml:id'];
  if (id !== undefined) body.finished.set(`id ${id}`, counters);
  return { levels, depth: (outer?.depth ?? 0) + 1, counters };
}

/** The numbers of a list that goes on, or new ones. */
function countersOf(attributes: XmlElement['attributes'], finished: Body['finished']): OdtCounters {
  const {
    'text:continue-list': id,
    'text:continue-numbering': continues,
    'text:style-name': style,
  } = attributes;
  const named = id === undefined ? undefined : finished.get(`id ${id}`);
  const same = continues === 'true' && style !== undefined ? finished.get(`style ${style}`) : undefined;
  return named ?? same ?? new Map<number, number>();
}

function itemPieces(item: XmlElement, list: List, body: Body): readonly Piece[] {
  const first = elementsOf(item)[0];
  const isLabelled = item.name === 'text:list-item' && (first?.name === 'text:p' || first?.name === 'text:h');
  const start = item.attributes['text:start-value'];
  if (isLabelled && start !== undefined) list.counters.set(list.depth, Number(start) - 1);
  const label = isLabelled ? labelOfLevel(list.levels, list.depth, list.counters) : null;
  const isItem = isLabelled && label !== null;
  return elementsOf(item).flatMap((child, index) =>
    piecesOf(child, index === 0 ? { list, label, isItem } : { list, label: null, isItem: false }, body),
  );
}
