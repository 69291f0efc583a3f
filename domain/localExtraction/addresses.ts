import { datesIn } from './dates.ts';
import type { Field } from './fields.ts';
import { textFinding, type Evidence, type Finding } from './finding.ts';
import { overlap, type Segment } from './layout.ts';
import { partyAt, sellerName, titledSegments } from './parties.ts';
import { isCountry, isStreet, postalLine, type PostalLine } from './postal.ts';
import type { Role } from './roles.ts';
import type { Source } from './source.ts';
import { belowLabel } from './texts.ts';
import { folded } from './words.ts';

/** The lines of one address, from the one under the name to the one with the postal code or the country. */
interface AddressBlock {
  readonly role: Role | undefined;
  readonly name: Segment | undefined;
  readonly lines: readonly Segment[];
  readonly street: Segment | undefined;
  readonly postal: Segment;
  readonly parts: PostalLine;
  readonly country: Segment | undefined;
}

const LINES_MAX = 5;
const BLOCKS = new WeakMap<Source, readonly AddressBlock[]>();

/** Part of an address, or the whole: of the party that the field speaks of. */
export function findAddress(field: Field, source: Source): Finding | undefined {
  const labelled = belowLabel(field, source);
  if (labelled !== undefined && field.role === undefined) return partOfLabelled(field, labelled);
  const blocks = blocksOf(source);
  const wanted = field.role ?? 'seller';
  const block = blocks.find(({ role }) => role === wanted) ?? (blocks.length === 1 && field.role === undefined ? blocks[0] : undefined); // prettier-ignore
  return block === undefined ? undefined : partOf(field.concept?.id, block);
}

/** A label may stand before a whole address where the schema asks for one part. */
function partOfLabelled({ concept }: Field, finding: Finding): Finding | undefined {
  const parts = postalLine(finding.text);
  const range =
    concept?.id === 'city' ? parts?.city : concept?.id === 'postal_code' ? parts?.postal_code : undefined;
  if (range === undefined) return finding;
  const text = finding.text.slice(range.from, range.to);
  return text === '' ? undefined : { ...finding, text, value: text };
}

function partOf(part: string | undefined, block: AddressBlock): Finding | undefined {
  const known = block.role !== undefined;
  const evidence: Evidence = {
    label: known ? 0.75 : 0.6,
    strictness: 0.7,
    margin: 0.2,
    agreement: 0,
  };
  const ranged = (segment: Segment, range: { from: number; to: number } | undefined): Finding | undefined =>
    range === undefined || range.to <= range.from
      ? undefined
      : textFinding([{ segment, ...range }], evidence);
  const whole = (segments: readonly Segment[]): Finding | undefined =>
    textFinding(
      segments.map((segment) => ({ segment, from: 0, to: segment.text.length })),
      evidence,
    );
  const { postal, parts, street, country } = block;
  switch (part) {
    case 'postal_code':
    case 'city':
    case 'region':
      return ranged(postal, parts[part]);
    case 'street':
      return street === undefined ? beforeTown(block, ranged) : whole([street]);
    case 'house_number':
      return street === undefined ? undefined : ranged(street, houseNumber(street.text));
    case 'country':
      return country === undefined ? undefined : whole([country]);
    default:
      return commaJoined(whole(block.lines), block.lines);
  }
}

/** The lines of an address read as one with commas between them. */
function commaJoined(finding: Finding | undefined, lines: readonly Segment[]): Finding | undefined {
  if (finding === undefined) return undefined;
  const value = lines.map(({ text }) => text.trim().replace(/[,;]$/, '')).join(', ');
  return { ...finding, value };
}

/** Street and town on one line: what stands before the postal code or the town. */
function beforeTown(
  { postal, parts }: AddressBlock,
  ranged: (segment: Segment, range: { from: number; to: number }) => Finding | undefined,
): Finding | undefined {
  const end = Math.min(
    parts.postal_code.from,
    parts.city.to > 0 ? parts.city.from : Number.POSITIVE_INFINITY,
  );
  const text = postal.text.slice(0, end).replace(/[\s,·•|–-]+$/, '');
  const from = Math.max(text.lastIndexOf(', '), text.lastIndexOf(' · '), text.lastIndexOf(' - '), text.lastIndexOf(' • ')); // prettier-ignore
  const start = from < 0 ? 0 : from + text.slice(from).search(/[\p{L}\p{N}]/u);
  return isStreet(text.slice(start)) ? ranged(postal, { from: start, to: text.length }) : undefined;
}

function houseNumber(text: string): { from: number; to: number } | undefined {
  const match = /(?:^(\d{1,5} ?[a-zA-Z]?)(?=[,\s]))|(?:\s(\d{1,5} ?[a-zA-Z]?(?:[-/]\d{1,4})?)$)/.exec(text);
  const number = match?.[1] ?? match?.[2];
  if (match === null || number === undefined) return undefined;
  const from = match.index + match[0].length - number.length;
  return { from, to: from + number.length };
}

function blocksOf(source: Source): readonly AddressBlock[] {
  const known = BLOCKS.get(source);
  if (known !== undefined) return known;
  const blocks = findBlocks(source);
  BLOCKS.set(source, blocks);
  return blocks;
}

function findBlocks(source: Source): readonly AddressBlock[] {
  const titled = titledSegments(source);
  const raw = source.layout.segments.flatMap((postal) => {
    const parts = postalLine(postal.text);
    return parts === undefined || /^[^:]{2,30}: /.test(postal.text)
      ? []
      : [blockAround(postal, parts, { source, titled })];
  });
  return withRoles(raw, source);
}

interface Around {
  readonly source: Source;
  readonly titled: ReadonlySet<Segment>;
}

function blockAround(postal: Segment, parts: PostalLine, { source, titled }: Around): AddressBlock {
  const inline = beforeCode(postal.text, parts);
  const above = linesAbove(postal, { source, titled });
  const nameAt = above[0] !== undefined && !isStreet(above[0].text) ? 0 : -1;
  const street = inline ? undefined : above.findLast(({ text }, i) => i > nameAt && isStreet(text));
  const below = source.layout.segments.find((other) => isRightAbove(postal, other, source));
  const country = below !== undefined && isCountry(folded(below.text)) ? below : undefined;
  return {
    role: undefined,
    name: above[nameAt],
    lines: [...addressLines(above, nameAt), postal, ...(country === undefined ? [] : [country])],
    street,
    postal,
    parts,
    country,
  };
}

/** The lines over the one with the postal code; what is no part of an address is passed over. */
function linesAbove(postal: Segment, { source, titled }: Around): readonly Segment[] {
  const above: Segment[] = [];
  let top = postal;
  for (let i = 0; i < LINES_MAX; i += 1) {
    const under = top;
    const next = source.layout.segments.findLast((other) => isRightAbove(other, under, source));
    if (next === undefined || titled.has(next)) break;
    if (!isOther(next.text)) above.unshift(next);
    top = next;
  }
  return above;
}

/** Lines below the name, from the first street on where there is one. */
function addressLines(above: readonly Segment[], nameAt: number): readonly Segment[] {
  const first = above.findIndex(({ text }, i) => i > nameAt && isStreet(text));
  return above.slice(first < 0 ? nameAt + 1 : first);
}

const beforeCode = (text: string, { postal_code, city }: PostalLine): boolean =>
  /\p{L}{3}.*\d/u.test(text.slice(0, Math.min(postal_code.from, city.to > 0 ? city.from : postal_code.from)));

/** What stands in a block and is no line of an address. */
const isOther = (text: string): boolean =>
  /@|https?:|www\.|^[^:]{1,30}:\s|\b(?:tel|fax|phone|gst|reg|co|vat)\b\.? ?(?:no|nr|id)?\b[.:#]? ?\(?\d/i.test(
    text,
  ) || /^\(?[\d\s-]{5,}(?:-?[A-Z])?\)?$/.test(text);

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
    seller !== '' && (folded(name?.text ?? '').includes(seller) || folded(postal.text).includes(seller));
  const roles = blocks.map((block): Role | undefined => {
    const titled = partyAt(block.name ?? block.lines[0] ?? block.postal, source);
    if (titled === 'seller' || titled === 'buyer' || titled === 'delivery_party') return titled;
    return isSellers(block) ? 'seller' : undefined;
  });
  const other = roles.indexOf(undefined);
  const open = blocks.length === 1 ? 'seller' : 'buyer';
  if (other >= 0 && !roles.includes(open)) roles[other] = open;
  return blocks.map((block, i) => ({ ...block, role: roles[i] }));
}
