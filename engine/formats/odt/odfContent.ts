import { unzip } from '../pieces/archive.ts';
import { tableOf, type Block } from '../../document/document.ts';
import { escapeText } from '../../document/inline.ts';
import { childAt, elementsOf, findAll, parseXml, textIn, type XmlElement } from '../office/xmlTree.ts';
import { OFFICE_LIMITS, RefusedDocument, type Piece } from '../pieces/blocks.ts';
import { odtPieces } from './odtBody.ts';
import { hasFilledPages } from './odtColours.ts';
import type { OdtReader } from './odtRuns.ts';
import { ODT_PREFIXES, odtStyles } from './odtStyles.ts';

type Write = (parts: readonly string[], element: XmlElement) => string;

const text: Write = (_, element) => textIn(element).trim();
const above: Write = ([base = '', upper = '']) => `${base}^${grouped(upper)}`;
const below: Write = ([base = '', lower = '']) => `${base}_${grouped(lower)}`;
const both: Write = ([base = '', lower = '', upper = '']) => `${base}_${grouped(lower)}^${grouped(upper)}`;
const nothing: Write = () => '';

const WRITERS: ReadonlyMap<string, Write> = new Map<string, Write>([
  ['mi', text],
  ['mn', text],
  ['mtext', text],
  ['ms', text],
  ['mo', (_, element) => operator(textIn(element).trim())],
  ['mfrac', ([numerator = '', denominator = '']) => `${grouped(numerator)}/${grouped(denominator)}`],
  ['msup', above],
  ['mover', above],
  ['msub', below],
  ['munder', below],
  ['msubsup', both],
  ['munderover', both],
  ['msqrt', (parts) => `√(${parts.join('')})`],
  ['mroot', ([radicand = '', degree = '']) => `${degree}√(${radicand})`],
  ['mtr', (parts) => `${parts.join(' ')}; `],
  ['annotation', nothing],
  ['annotation-xml', nothing],
]);

/** An equation of MathML on one line: `(a+b)/c`, `x^2`, `√(x)`. */
function mathmlText(element: XmlElement): string {
  const parts = elementsOf(element).map(mathmlText);
  const write = WRITERS.get(element.name.replace(/^math:/, ''));
  return write === undefined ? parts.join('') : write(parts, element);
}

const operator = (sign: string): string => (/^[=+−<>≤≥≠≈→×·±-]$/.test(sign) ? ` ${sign} ` : sign);
const grouped = (text: string): string => (/^[\p{L}\p{N}.,]*$/u.test(text) ? text : `(${text})`);

const WANTED = /^(?:content\.xml|styles\.xml|META-INF\/manifest\.xml|[^/]+\/content\.xml)$/;

/** The content of an OpenDocument file, and what reads its pieces. */
export interface OdfContent {
  readonly content: XmlElement;
  readonly reader: OdtReader;
  /** The named styles, page styles with their headers among them, and what reads the pieces in them. */
  readonly named: { readonly root: XmlElement | undefined; readonly reader: OdtReader };
  /** No page has a colour or a picture behind its text. */
  readonly hasWhitePages: boolean;
}

/** Reads the parts of an OpenDocument file; throws `RefusedDocument` where it cannot be read. */
export function odfContent(bytes: Buffer): OdfContent {
  const archive = unzip(bytes, (name) => WANTED.test(name), OFFICE_LIMITS);
  if (archive.kind === 'unreadable') throw new RefusedDocument(archive.detail);
  refuseEncrypted(archive.members);
  const content = partAt(archive.members, 'content.xml');
  if (content === undefined) throw new RefusedDocument('The document has no text part.');
  const root = partAt(archive.members, 'styles.xml');
  return {
    content,
    reader: readerOf([content, root], archive.members, false),
    // Automatic styles of the two parts have the same names and are others.
    named: { root, reader: readerOf([root], archive.members, true) },
    hasWhitePages: !hasFilledPages(root),
  };
}

/** The parts of an encrypted document are noise; its manifest, which is not encrypted, says so. */
function refuseEncrypted(members: ReadonlyMap<string, Uint8Array>): void {
  const manifest = members.get('META-INF/manifest.xml');
  if (manifest !== undefined && Buffer.from(manifest).includes('encryption-data'))
    throw new RefusedDocument('The file is encrypted and needs a password. Send it without one.');
}

/** Objects in a document may name their document type, as old equations do; nothing of it is resolved. */
function partAt(
  members: ReadonlyMap<string, Uint8Array>,
  name: string,
  doctype: 'refused' | 'ignored' = 'refused',
): XmlElement | undefined {
  const bytes = members.get(name);
  if (bytes === undefined) return undefined;
  const xml = parseXml(bytes, ODT_PREFIXES, { doctype });
  if (xml.kind === 'unreadable') throw new RefusedDocument(xml.detail);
  return xml.root;
}

function readerOf(
  roots: readonly (XmlElement | undefined)[],
  members: ReadonlyMap<string, Uint8Array>,
  isLetterhead: boolean,
): OdtReader {
  // Many frames may show one.
  const charts = new Map<string, readonly Piece[]>();
  const reader: OdtReader = {
    styles: odtStyles(roots),
    isLetterhead,
    notes: [],
    aside: [],
    hasHidden: false,
    onPaper: false,
    readPieces: odtPieces(() => reader, new Map()),
    controls: new Map(roots.flatMap((root) => findAll(root, 'office:forms')).flatMap(controlsIn)),
    chartAt: (path) => {
      const known = charts.get(path) ?? chartPieces(partAt(members, `${path}/content.xml`, 'ignored'));
      charts.set(path, known);
      return known;
    },
    equationAt: (path) => {
      const part = partAt(members, `${path}/content.xml`, 'ignored');
      return part?.name === 'math:math' ? mathmlText(part).replace(/\s+/g, ' ').trim() : undefined;
    },
  };
  return reader;
}

/** What is in a chart: its titles, then its values as the table that it keeps of them. */
function chartPieces(part: XmlElement | undefined): readonly Piece[] {
  const chart = childAt(part, 'office:body', 'office:chart', 'chart:chart');
  const titles = ['chart:title', 'chart:subtitle'].map((name) => textIn(childAt(chart, name)).trim());
  const rows = findAll(childAt(chart, 'table:table'), 'table:table-row')
    .slice(0, POINTS_MAX)
    .map((row) => elementsOf(row, 'table:table-cell').map((cell) => textIn(cell).trim()));
  const block = (one: Block): Piece => ({ kind: 'block', block: one });
  return [
    ...titles.filter((text) => text !== '').map((text) => block(paragraphOf(text))),
    ...(rows.some((row) => row.length > 1) ? [block(tableOf(rows, 1))] : []),
  ];
}

const POINTS_MAX = 10_000;

const paragraphOf = (text: string): Block => ({
  kind: 'paragraph',
  text,
  markdown: escapeText(text),
  box: null,
});

/** The fields of forms by their ids, with what they show; passwords and what is hidden are left out. */
const controlsIn = (forms: XmlElement): readonly (readonly [string, string])[] =>
  [...SHOWN].flatMap(([name, shown]) =>
    findAll(forms, `form:${name}`).flatMap((control) =>
      ['form:id', 'xml:id'].flatMap((key) => {
        const id = control.attributes[key];
        return id === undefined ? [] : [[id, shown(control)] as const];
      }),
    ),
  );

type Shown = (control: XmlElement) => string;

const written: Shown = ({ attributes }) => attributes['form:current-value'] ?? attributes['form:value'] ?? '';
const labelled: Shown = ({ attributes }) => attributes['form:label'] ?? '';
const ticked =
  (state: string): Shown =>
  (control) =>
    `${control.attributes[state] === TICKED.get(state) ? '☒' : '☐'} ${labelled(control)}`.trim();
const TICKED = new Map([
  ['form:current-state', 'checked'],
  ['form:current-selected', 'true'],
]);
const chosen: Shown = (list) => {
  const options = findAll(list, 'form:option');
  const now = options.filter(({ attributes }) => attributes['form:current-selected'] === 'true');
  const first = options.filter(({ attributes }) => attributes['form:selected'] === 'true');
  return (now.length > 0 ? now : first).map(labelled).join(', ');
};

/** By the names of fields: what is seen of them. */
const SHOWN: ReadonlyMap<string, Shown> = new Map<string, Shown>([
  ...['text', 'textarea', 'combobox', 'date', 'time', 'number', 'formatted-text'].map(
    (name) => [name, written] as const,
  ),
  ...['fixed-text', 'button'].map((name) => [name, labelled] as const),
  ['checkbox', ticked('form:current-state')],
  ['radio', ticked('form:current-selected')],
  ['listbox', chosen],
]);
