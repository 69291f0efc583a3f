import { datesIn } from '../values/dates.ts';
import { below } from '../form/neighbours.ts';
import { overlap, type Layout, type Segment } from '../places/layout.ts';
import { sellerName } from './parties.ts';
import { partyAt, titledSegments } from './partyTitles.ts';
import { isCountry, isStreet, postalLine, type PostalLine } from './postal.ts';
import type { Role } from '../fields/fieldConcepts.ts';
import { folded } from '../../kernel/text.ts';
import type { Source } from '../source.ts';
import { once } from '../../kernel/once.ts';

/** A range of a segment's text. */
export interface Part {
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;
}

/** The lines of one address, from the one under the name to the one with the postal code or the country. */
export interface AddressBlock {
  readonly role: Role | undefined;
  /** A title above it says whose it is. */
  readonly isTitled: boolean;
  readonly name: Part | undefined;
  readonly lines: readonly Part[];
  readonly street: Part | undefined;
  readonly postal: Part;
  /** Ranges in the text of `postal`. */
  readonly parts: PostalLine;
  readonly country: Part | undefined;
}

const LINES_MAX = 5;
const LINE_CHARACTERS_MAX = 200;
/** Lines of one block are no more segments apart. */
const NEAR = 40;
const BLOCKS_MAX = 200;

/** The addresses of a document in reading order, with whose they are. Computed once for a source. */
export const blocksOf = once((source: Source): readonly AddressBlock[] => {
  const titled = titledSegments(source);
  const blocks = source.layout.segments.flatMap((segment) => blockAt(segment, { source, titled }) ?? []);
  return withRoles(blocks.slice(0, BLOCKS_MAX), source);
});

interface Around {
  readonly source: Source;
  readonly titled: ReadonlySet<Segment>;
}

const wholeOf = (segment: Segment): Part => ({ segment, from: 0, to: segment.text.length });
const textOf = ({ segment, from, to }: Part): string => segment.text.slice(from, to);

function blockAt(segment: Segment, around: Around): AddressBlock | undefined {
  const inline = inlineBlock(segment);
  if (inline !== undefined) return inline;
  const parts = /^[^:]{2,30}: /.test(segment.text) ? undefined : postalLine(segment.text);
  return parts === undefined ? undefined : blockAround(segment, parts, around);
}

/** A sender's line: name, street and town on one line, parted by marks. */
function inlineBlock(segment: Segment): AddressBlock | undefined {
  if (segment.text.length > LINE_CHARACTERS_MAX || !/\d{4}|\d[A-Z]{2}/.test(segment.text)) return undefined;
  const parts: Part[] = [];
  for (const { 0: text, index } of segment.text.matchAll(/(?:(?! [·•|–-] |[,;·•|] ).)+/gu)) {
    const lead = text.length - text.replace(/^[\s,;·•|–-]+/, '').length;
    parts.push({ segment, from: index + lead, to: index + text.trimEnd().length });
  }
  const at = parts.findIndex((part) => postalLine(textOf(part)) !== undefined);
  const postal = parts[at];
  const postalParts = postal === undefined ? undefined : postalLine(textOf(postal));
  if (postal === undefined || postalParts === undefined || at < 2) return undefined;
  const street = parts.slice(1, at).findLast((part) => isStreet(textOf(part)));
  if (street === undefined) return undefined;
  const lines = parts.slice(parts.indexOf(street), at + 1);
  return {
    role: undefined,
    isTitled: false,
    name: parts[0],
    lines,
    street,
    postal,
    parts: postalParts,
    country: undefined,
  };
}

function blockAround(postal: Segment, parts: PostalLine, around: Around): AddressBlock {
  const above = linesAbove(postal, around);
  const nameAt = above[0] !== undefined && !isStreet(above[0].text) ? 0 : -1;
  const isInline = beforeCode(postal.text, parts);
  const street = isInline ? undefined : above.findLast(({ text }, i) => i > nameAt && isStreet(text));
  const below = around.source.layout.segments
    .slice(postal.index + 1, postal.index + NEAR)
    .find((other) => isRightAbove(postal, other, around.source));
  const country = below !== undefined && isCountry(folded(below.text)) ? [wholeOf(below)] : [];
  const name = above[nameAt];
  return {
    role: undefined,
    isTitled: false,
    name: name === undefined ? undefined : wholeOf(name),
    lines: [...addressLines(above, nameAt).map(wholeOf), wholeOf(postal), ...country],
    street: street === undefined ? undefined : wholeOf(street),
    postal: wholeOf(postal),
    parts,
    country: country[0],
  };
}

/** The lines over the one with the postal code; what is no part of an address is passed over. */
function linesAbove(postal: Segment, { source, titled }: Around): readonly Segment[] {
  const above: Segment[] = [];
  let top = postal;
  for (let i = 0; i < LINES_MAX; i += 1) {
    const under = top;
    const next = source.layout.segments
      .slice(Math.max(0, under.index - NEAR), under.index)
      .findLast((other) => isRightAbove(other, under, source));
    if (next === undefined || titled.has(next) || inlineBlock(next) !== undefined) break;
    if (!isContact(next.text)) above.unshift(next);
    top = next;
  }
  return above;
}

/** Lines below the name, from the first street on where there is one. */
function addressLines(above: readonly Segment[], nameAt: number): readonly Segment[] {
  const first = above.findIndex(({ text }, i) => i > nameAt && isStreet(text));
  return above.slice(first < 0 ? nameAt + 1 : first);
}

function beforeCode(text: string, { postal_code, city }: PostalLine): boolean {
  const before = text.slice(0, Math.min(postal_code.from, city.to > 0 ? city.from : postal_code.from));
  const word = before.search(/\p{L}{3}/u);
  return word >= 0 && /\d/.test(before.slice(word));
}

const CONTACT =
  /@|https?:|www\.|^[^:]{1,30}:\s|\b(?:tel|fax|phone|gst|reg|co|vat)\b\.? ?(?:no|nr|id)?\b[.:#]? ?\(?\d/i;
const REGISTERED = /^\(?[\d\s-]{5,}(?:-?[A-Z])?\)?$/;

/** Lines of an address below its first. */
const MORE_LINES_MAX = 4;
const LEADING = 1.2;
const SAME_LEFT = 6;

/** The lines that an address goes on in, down to its town or its country, or to what is none of its lines. */
export function goesOnBelow(first: Segment, layout: Layout): readonly Segment[] {
  const lines: Segment[] = [];
  let last = first;
  while (lines.length < MORE_LINES_MAX) {
    const next = below(last, layout, LEADING * (last.y1 - last.y0));
    if (next === undefined || !isLineBelow(last, next) || isStranger(next, layout)) break;
    if (postalLine(last.text) !== undefined && !isCountry(folded(next.text))) break;
    lines.push(next);
    last = next;
  }
  return [first, ...lines].some(({ text }) => postalLine(text) !== undefined || isStreet(text)) ? lines : [];
}

const isLineBelow = (line: Segment, next: Segment): boolean =>
  Math.abs(next.x0 - line.x0) < SAME_LEFT &&
  !next.text.includes(':') &&
  !isContact(next.text) &&
  line.words[0]?.fontSize === next.words[0]?.fontSize;

/** What has a text at its left, with nothing between them but white, is the value of another label. */
const isStranger = (line: Segment, { rows }: Layout): boolean =>
  rows[line.row]?.segments.some((other) => other.index === line.index - 1 && isLabelText(other.text)) ===
  true;

const isLabelText = (text: string): boolean => /\p{L}{2}/u.test(text) && !/\d/.test(text);

/** What stands in a block and is no line of an address: ways to call, register numbers, times. */
export const isContact = (text: string): boolean =>
  CONTACT.test(text) || REGISTERED.test(text) || /\d{1,2}:\d{2}/.test(text) || datesIn(text, true).length > 0;

/** Lines of one block stand close, and share their left edge or their middle; on a slip they are alone. */
function isRightAbove(upper: Segment, lower: Segment, { layout }: Source): boolean {
  const height = Math.max(lower.y1 - lower.y0, upper.y1 - upper.y0);
  const isNear =
    upper.page === lower.page && upper.y0 < lower.y0 - 2 && lower.y0 - upper.y1 < Math.max(8, 1.2 * height);
  if (!isNear) return false;
  const middle = Math.abs(upper.x0 + upper.x1 - lower.x0 - lower.x1) / 2;
  if (Math.abs(upper.x0 - lower.x0) < 5 || middle < 8) return true;
  const alone = [upper, lower].every(({ row }) => layout.rows[row]?.segments.length === 1);
  return alone && overlap(upper, lower) > 0.6;
}

/** By the title above, else by the name: the seller's own, and the first other one is the buyer's. */
function withRoles(blocks: readonly AddressBlock[], source: Source): readonly AddressBlock[] {
  const seller = folded(sellerName(source) ?? '');
  const isSellers = ({ name, postal }: AddressBlock): boolean =>
    seller !== '' &&
    (folded(name === undefined ? '' : textOf(name)).includes(seller) ||
      folded(postal.segment.text).includes(seller));
  const titles = blocks.map((block) => titleOf(block, source));
  const roles = blocks.map(
    (block, i): Role | undefined => titles[i] ?? (isSellers(block) ? 'seller' : undefined),
  );
  const other = roles.indexOf(undefined);
  const open = blocks.length === 1 ? 'seller' : 'buyer';
  if (other >= 0 && !roles.includes(open)) roles[other] = open;
  return blocks.map((block, i) => ({ ...block, role: roles[i], isTitled: titles[i] !== undefined }));
}

function titleOf({ name, lines, postal }: AddressBlock, source: Source): Role | undefined {
  const title = partyAt((name ?? lines[0] ?? postal).segment, source);
  return title === 'seller' || title === 'buyer' || title === 'delivery_party' ? title : undefined;
}
