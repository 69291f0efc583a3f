import type { Role } from '../pieces/blocks.ts';
import { roleOfName } from '../office/styleNames.ts';
import { childAt, elementsOf, type XmlElement } from '../office/xmlTree.ts';

/** The value of a property that is an element: `<w:ilvl w:val="1"/>`. */
export const valueOf = (properties: XmlElement | undefined, name: string): string | undefined =>
  childAt(properties, name)?.attributes['w:val'];

/** Whether a property is on; undefined where it is not said. */
export function toggle(properties: XmlElement | undefined, name: string): boolean | undefined {
  const property = childAt(properties, name);
  if (property === undefined) return undefined;
  return !/^(?:0|false|off|none)$/i.test(property.attributes['w:val'] ?? '1');
}

/** One style, nearest first in the chain of those it is based on. */
export interface DocxStyle {
  readonly id: string;
  readonly name: string;
  readonly paragraph: XmlElement | undefined;
  readonly run: XmlElement | undefined;
}

/** The style and those it is based on, the nearest first; empty where there is no such style. */
export type StyleChains = (id: string | undefined) => readonly DocxStyle[];

const CHAIN_MAX = 32;

/** Styles by their ids. Paragraphs without one have the default style. */
export function docxStyles(styles: XmlElement | undefined): {
  readonly chainOf: StyleChains;
  readonly paragraphDefault: string | undefined;
} {
  const all = elementsOf(styles, 'w:style');
  const byId = new Map(all.map((style) => [style.attributes['w:styleId'] ?? '', style]));
  const chains = new Map<string, readonly DocxStyle[]>();
  const chainOf: StyleChains = (id) => {
    if (id === undefined) return [];
    const known = chains.get(id) ?? readChain(byId, id);
    chains.set(id, known);
    return known;
  };
  const paragraphDefault = all.find(
    ({ attributes }) =>
      attributes['w:type'] === 'paragraph' && /^(?:1|true|on)$/.test(attributes['w:default'] ?? ''),
  )?.attributes['w:styleId'];
  return { chainOf, paragraphDefault };
}

function readChain(byId: ReadonlyMap<string, XmlElement>, from: string): readonly DocxStyle[] {
  const chain: DocxStyle[] = [];
  let id: string | undefined = from;
  while (id !== undefined && chain.length < CHAIN_MAX) {
    const style: XmlElement | undefined = byId.get(id);
    // Some writers name a built-in style without defining it: its id still says what it is.
    if (style === undefined && chain.length > 0) break;
    chain.push({
      id,
      name: valueOf(style, 'w:name') ?? id,
      paragraph: childAt(style, 'w:pPr'),
      run: childAt(style, 'w:rPr'),
    });
    id = valueOf(style, 'w:basedOn');
  }
  return chain;
}

/** What the first of the chain to say something says. */
export function firstSaid<T>(
  chain: readonly DocxStyle[],
  say: (style: DocxStyle) => T | undefined,
): T | undefined {
  for (const style of chain) {
    const said = say(style);
    if (said !== undefined) return said;
  }
  return undefined;
}

const PARAGRAPH: Role = { kind: 'paragraph' };

/** What a paragraph is by its own outline level, or by the outline level or name of its styles. */
export function roleOf(properties: XmlElement | undefined, chain: readonly DocxStyle[]): Role {
  const own = outlineOf(properties);
  const styled = firstSaid(chain, roleOfStyle) ?? PARAGRAPH;
  if (own === undefined || styled.kind === 'title') return styled;
  return own >= 9 ? PARAGRAPH : { kind: 'heading', level: own + 1 };
}

/** From 0; 9 is body text. */
function outlineOf(properties: XmlElement | undefined): number | undefined {
  const level = Number(valueOf(properties, 'w:outlineLvl') ?? Number.NaN);
  return Number.isInteger(level) && level >= 0 ? level : undefined;
}

function roleOfStyle({ id, name, paragraph }: DocxStyle): Role | undefined {
  const named = roleOfName(name) ?? roleOfName(id);
  if (named !== undefined && named.kind !== 'heading') return named;
  const outline = outlineOf(paragraph);
  if (outline !== undefined && outline < 9) return { kind: 'heading', level: outline + 1 };
  return named ?? (outline === undefined ? undefined : PARAGRAPH);
}
