import type { DocxReader } from './docxReader.ts';
import { firstSaid, toggle, valueOf, type DocxStyle } from './docxStyles.ts';
import type { Look } from '../pieces/runs.ts';
import { childAt, type XmlElement } from '../office/xmlTree.ts';

interface StyledElement {
  readonly properties: XmlElement | undefined;
  readonly chain: readonly DocxStyle[];
}

/** Half points below which nobody reads. */
const TINY_BELOW = 4;

/**
 * How a run looks by its own properties and its character style; null where nobody sees it. What a
 * paragraph style makes bold is no emphasis, for the whole paragraph is.
 */
export function lookOfRun(
  properties: XmlElement | undefined,
  place: StyledElement,
  reader: DocxReader,
): Look | null {
  const characterChain = reader.chainOf(valueOf(properties, 'w:rStyle'));
  if (isHidden({ properties, characterChain }, place, reader)) return null;
  const says = (name: string): boolean =>
    toggle(properties, name) ?? firstSaid(characterChain, ({ run }) => toggle(run, name)) ?? false;
  return {
    bold: says('w:b'),
    italic: says('w:i'),
    strike: says('w:strike') || says('w:dstrike'),
    link: null,
  };
}

interface RunStyle {
  readonly properties: XmlElement | undefined;
  readonly characterChain: readonly DocxStyle[];
}

/** Hidden by its style, smaller than can be read, or white on a page that has no colour. */
function isHidden(
  { properties, characterChain }: RunStyle,
  place: StyledElement,
  reader: DocxReader,
): boolean {
  const first = <T>(say: (run: XmlElement | undefined) => T | undefined): T | undefined =>
    say(properties) ??
    firstSaid(characterChain, ({ run }) => say(run)) ??
    firstSaid(place.chain, ({ run }) => say(run));
  if (first((run) => toggle(run, 'w:vanish')) === true) return true;
  const size = Number(first((run) => valueOf(run, 'w:sz')) ?? TINY_BELOW);
  if (size < TINY_BELOW) return true;
  const isWhite = /^f{6}$/i.test(first((run) => valueOf(run, 'w:color')) ?? '');
  if (!isWhite || reader.isColoured || reader.boxes > 0) return false;
  const shades = [
    first(shadeOf),
    shadeOf(place.properties),
    firstSaid(place.chain, (style) => shadeOf(style.paragraph)),
  ];
  return shades.every((shade) => shade === undefined);
}

/** The colour behind a text, where it is not that of paper. */
function shadeOf(properties: XmlElement | undefined): string | undefined {
  const highlight = valueOf(properties, 'w:highlight');
  if (highlight !== undefined && highlight !== 'none' && highlight !== 'white') return highlight;
  const shade = childAt(properties, 'w:shd');
  return shade === undefined || isPaper(shade) ? undefined : 'shaded';
}

function isPaper({ attributes }: XmlElement): boolean {
  const { 'w:fill': fill = 'auto', 'w:val': pattern = 'clear', 'w:themeFill': theme } = attributes;
  return /^(?:auto|f{6})$/i.test(fill) && /^(?:clear|nil)$/.test(pattern) && theme === undefined;
}
