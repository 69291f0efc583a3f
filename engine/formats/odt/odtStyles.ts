import type { Role } from '../pieces/blocks.ts';
import { LABEL_CHARACTERS_MAX } from '../office/numbering.ts';
import { roleOfName } from '../office/styleNames.ts';
import { childAt, elementsOf, type Prefixes, type XmlElement } from '../office/xmlTree.ts';

const OASIS = 'urn:oasis:names:tc:opendocument:xmlns';

/** Namespaces of OpenDocument. */
export const ODT_PREFIXES: Prefixes = {
  [`${OASIS}:office:1.0`]: 'office',
  [`${OASIS}:text:1.0`]: 'text',
  [`${OASIS}:table:1.0`]: 'table',
  [`${OASIS}:drawing:1.0`]: 'draw',
  [`${OASIS}:form:1.0`]: 'form',
  [`${OASIS}:chart:1.0`]: 'chart',
  [`${OASIS}:presentation:1.0`]: 'presentation',
  [`${OASIS}:style:1.0`]: 'style',
  // What LibreOffice had before the standard, as headers of first pages.
  'urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0': 'style',
  [`${OASIS}:xsl-fo-compatible:1.0`]: 'fo',
  [`${OASIS}:svg-compatible:1.0`]: 'svg',
  'http://www.w3.org/1999/xlink': 'xlink',
  'http://www.w3.org/1998/Math/MathML': 'math',
};

/** A level of a list style. */
export interface OdtLevel {
  readonly isNumbered: boolean;
  readonly format: string;
  readonly prefix: string;
  readonly suffix: string;
  readonly start: number;
  /** How many levels its number shows. */
  readonly shown: number;
}

export interface OdtStyles {
  /** A style and its parents, the nearest first. */
  chainOf(family: string, name: string | undefined): readonly XmlElement[];
  /** The levels of a list style, from 1. */
  levelsOf(listStyle: string | undefined): ReadonlyMap<number, OdtLevel>;
  /** How headings are numbered, by their level. */
  readonly outline: ReadonlyMap<number, OdtLevel>;
}

const CHAIN_MAX = 32;

/** The styles of a document: its own (`content.xml`) before the named ones (`styles.xml`). */
export function odtStyles(roots: readonly (XmlElement | undefined)[]): OdtStyles {
  const groups = roots.flatMap((root) =>
    elementsOf(root).filter(({ name }) => name === 'office:automatic-styles' || name === 'office:styles'),
  );
  const styles = new Map<string, XmlElement>();
  const lists = new Map<string, ReadonlyMap<number, OdtLevel>>();
  let outline: ReadonlyMap<number, OdtLevel> = new Map();
  for (const style of groups.flatMap((group) => elementsOf(group))) {
    const name = style.attributes['style:name'] ?? '';
    const key = `${style.attributes['style:family'] ?? ''} ${name}`;
    if (style.name === 'style:style' && !styles.has(key)) styles.set(key, style);
    if (style.name === 'text:list-style' && !lists.has(name)) lists.set(name, levelsIn(style));
    if (style.name === 'text:outline-style') outline = levelsIn(style);
  }
  return {
    chainOf: (family, name) => readChain(styles, family, name),
    levelsOf: (name) => lists.get(name ?? '') ?? new Map<number, OdtLevel>(),
    outline,
  };
}

function readChain(
  styles: ReadonlyMap<string, XmlElement>,
  family: string,
  name: string | undefined,
): readonly XmlElement[] {
  const chain: XmlElement[] = [];
  let style = styles.get(`${family} ${name ?? ''}`);
  while (style !== undefined && chain.length < CHAIN_MAX) {
    chain.push(style);
    style = styles.get(`${family} ${style.attributes['style:parent-style-name'] ?? ''}`);
  }
  return chain;
}

const levelsIn = (list: XmlElement): ReadonlyMap<number, OdtLevel> =>
  new Map(
    elementsOf(list).map(({ name, attributes }): [number, OdtLevel] => [
      Number(attributes['text:level']),
      {
        isNumbered: name === 'text:list-level-style-number' || name === 'text:outline-level-style',
        format: attributes['style:num-format'] ?? '',
        prefix: (attributes['style:num-prefix'] ?? '').slice(0, LABEL_CHARACTERS_MAX),
        suffix: (attributes['style:num-suffix'] ?? '').slice(0, LABEL_CHARACTERS_MAX),
        start: Number(attributes['text:start-value'] ?? '1'),
        shown: Number(attributes['text:display-levels'] ?? '1'),
      },
    ]),
  );

/** What the first of the chain to say something says. */
export const said = (
  chain: readonly XmlElement[],
  properties: string,
  attribute: string,
): string | undefined => {
  for (const style of chain) {
    const value = childAt(style, properties)?.attributes[attribute];
    if (value !== undefined) return value;
  }
  return undefined;
};

/** What the names or outline levels of a paragraph's styles say that it is. */
export function roleOfChain(chain: readonly XmlElement[], name: string | undefined): Role {
  // Some writers name a style without defining it: its name still says what it is.
  if (chain.length === 0) return roleOfName(name ?? '') ?? PARAGRAPH;
  return chain.map(roleOfStyle).find((role) => role !== undefined) ?? PARAGRAPH;
}

const PARAGRAPH: Role = { kind: 'paragraph' };

function roleOfStyle({ attributes }: XmlElement): Role | undefined {
  const { 'style:display-name': display = '', 'style:name': name = '' } = attributes;
  const role = roleOfName(display) ?? roleOfName(name);
  if (role !== undefined && role.kind !== 'heading') return role;
  const outline = Number(attributes['style:default-outline-level'] ?? '0');
  return outline >= 1 ? { kind: 'heading', level: outline } : role;
}
