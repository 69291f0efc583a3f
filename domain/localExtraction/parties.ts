import type { Field } from './fields.ts';
import { textFinding, type Finding } from './finding.ts';
import { wholeScore } from './labels.ts';
import { overlap, type Layout, type Segment } from './layout.ts';
import { CONCEPTS, type Concept } from './lexicon.ts';
import type { Source } from './source.ts';
import { folded } from './words.ts';

const PARTIES = CONCEPTS.filter(({ kind }) => kind === 'party');
const IS_TITLE = 0.8;
const NAME_CHARACTERS_MAX = 80;

const LEGAL_FORM =
  /(?:^|[\s,])(?:GmbH(?: & Co\.? KG(?:aA)?)?|AG|KG|OHG|UG|e\.?K\.?|e\.?V\.?|Ltd\.?|Limited|LLC|LLP|Inc\.?|Corp\.?|Corporation|Company|PLC|S\.?A\.?R\.?L\.?|S\.?A\.?S\.?|SA|S\.?A\.?|S\.?L\.?U?|S\.?r\.?l\.?|S\.?p\.?A\.?|B\.?V\.?|N\.?V\.?|Oy|AB|A\/S|ApS|Lda\.?|Sp\. z o\.o\.|Pvt\.? Ltd\.?|Sdn\.? Bhd\.?)(?=$|[\s,.;)])/u;
const POSTAL_LINE =
  /(?:^|\s)(?:[A-Z]{1,2}[- ])?\d{4,6}(?: [A-Z]{2})?,?\s+\p{Lu}|\b[A-Z]{2}\s+\d{5}(?:-\d{4})?\b|\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b/u;

/** A line that opens the section of a party: "Seller:", "Bill to". */
interface Title {
  readonly segment: Segment;
  readonly concept: Concept;
  readonly score: number;
}

/** Whose section a segment stands in: that of the nearest title above it in its column. */
export function partyAt(segment: Segment, source: Source): string | undefined {
  const above = titles(source).filter((title) => isBelow(segment, title.segment, 190));
  return above.at(-1)?.concept.id;
}

/** The name of a party: under or beside its title, else from what stands where letters have it. */
export function findParty(field: Field, source: Source): Finding | undefined {
  const named = titles(source)
    .filter(({ concept }) => concept.id === field.concept?.id)
    .sort((a, b) => b.score - a.score)
    .flatMap((title) => nameFor(title, source) ?? []);
  const [best] = named;
  if (best !== undefined) return best;
  if (field.concept?.id === 'seller') return sellerByPlace(source);
  return field.concept?.id === 'buyer' ? buyerByPlace(source) : undefined;
}

/** Computed once for a document, for every candidate asks. */
const TITLES = new WeakMap<Source, readonly Title[]>();

function titles(source: Source): readonly Title[] {
  const known = TITLES.get(source);
  if (known !== undefined) return known;
  const all = findTitles(source);
  TITLES.set(source, all);
  return all;
}

function findTitles({ layout, labels }: Source): readonly Title[] {
  return layout.segments.flatMap((segment) => {
    const label = segment.text.split(':')[0] ?? '';
    if (label.length > 40 || /\d/.test(label)) return [];
    const best = PARTIES.map((concept) => ({
      segment,
      concept,
      score: wholeScore(label, (words) => labels.concept(concept, words)),
    })).reduce<Title | undefined>(
      (most, title) => (title.score > (most?.score ?? 0) ? title : most),
      undefined,
    );
    return best !== undefined && best.score >= IS_TITLE ? [best] : [];
  });
}

const isBelow = (segment: Segment, title: Segment, pointsMax: number): boolean =>
  segment.page === title.page &&
  segment.y0 > title.y0 + 2 &&
  segment.y0 - title.y1 < pointsMax &&
  (overlap(segment, title) > 0.1 || Math.abs(segment.x0 - title.x0) < 12);

function nameFor({ segment, score }: Title, { layout }: Source): Finding | undefined {
  const evidence = { label: score, strictness: 0.6, margin: 0.3, agreement: 0 };
  const colon = segment.text.indexOf(':');
  const own = segment.text.slice(colon + 1).trim();
  if (colon >= 0 && isName(own))
    return textFinding([{ segment, from: colon + 1, to: segment.text.length }], evidence);
  const right = layout.rows[segment.row]?.segments.find(({ index }) => index === segment.index + 1);
  if (colon >= 0 && right !== undefined && isName(right.text)) return wholeFinding(right, evidence);
  const below = layout.segments
    .filter((other) => isBelow(other, segment, 60))
    .slice(0, 6)
    .find((other) => isName(other.text) && !isLabel(other, layout));
  return below === undefined ? undefined : wholeFinding(below, evidence);
}

/** What stands beside it begins with a colon. */
const isLabel = ({ row, index }: Segment, { rows }: Layout): boolean =>
  rows[row]?.segments.some((other) => other.index === index + 1 && /^\s*:/.test(other.text)) ?? false;

type Strength = Parameters<typeof textFinding>[1];

function wholeFinding(segment: Segment, evidence: Strength): Finding | undefined {
  const from =
    /^(?:attn|z\.? ?hd\.?|t\.?a\.?v\.?|c\/o|firma|a l'attention de|:)[.:\s]+/i.exec(segment.text)?.[0]
      .length ?? 0;
  return textFinding([{ segment, from, to: segment.text.length }], evidence);
}

/** Letters, no label, no address line, not too long. */
function isName(text: string): boolean {
  return (
    /^[\p{L}\p{N}"'“„]/u.test(text) &&
    /\p{L}{2,}/u.test(text) &&
    text.length <= NAME_CHARACTERS_MAX &&
    !/^[^:]{2,30}:/.test(text) &&
    !POSTAL_LINE.test(text) &&
    !/@|https?:|www\./.test(text) &&
    !/\d{3,}/.test(text) &&
    wordsWithDigits(text) * 3 < text.split(' ').length
  );
}

const wordsWithDigits = (text: string): number => text.split(' ').filter((word) => /\d/.test(word)).length;

/** First address block on the first page that holds no party with a legal form said to be the seller. */
function buyerByPlace(source: Source): Finding | undefined {
  const seller = sellerByPlace(source)?.text;
  const tops = addressTops(source);
  const buyer = tops.find(({ text }) => seller === undefined || !folded(text).includes(folded(seller)));
  const evidence = { label: 0.45, strictness: 0.5, margin: 0, agreement: 0 };
  return buyer === undefined ? undefined : wholeFinding(buyer, evidence);
}

/** The top line of each block that holds a postal line, from the upper half of the first page. */
function addressTops(source: Source): readonly Segment[] {
  const { segments } = source.layout;
  const first = segments.filter(({ page }) => page === segments[0]?.page);
  const height = first.reduce((most, { y1 }) => Math.max(most, y1), 0);
  const named = new Set(titles(source).map(({ segment }) => segment));
  return first
    .filter(({ text, y0 }) => y0 < 0.5 * height && text.length < 60 && POSTAL_LINE.test(text))
    .flatMap((postal) => topOfBlock(postal, first, named) ?? []);
}

function topOfBlock(
  postal: Segment,
  all: readonly Segment[],
  titled: ReadonlySet<Segment>,
): Segment | undefined {
  let top = postal;
  let name: Segment | undefined;
  for (let i = 0; i < 5; i += 1) {
    const lineHeight = top.y1 - top.y0;
    const above = all.findLast(
      (other) =>
        Math.abs(other.x0 - top.x0) < 4 &&
        other.y0 < top.y0 - 2 &&
        top.y0 - other.y1 < Math.max(8, 1.9 * lineHeight),
    );
    if (above === undefined || titled.has(above)) break;
    top = above;
    if (isName(above.text)) name = above;
  }
  return name;
}

/**
 * Who sends the letter: the legal name that the document says most often, else the sender line's start or
 * the name in its head.
 */
function sellerByPlace({ layout }: Source): Finding | undefined {
  const evidence = { label: 0.5, strictness: 0.6, margin: 0, agreement: 0 };
  const names = layout.segments.flatMap((segment) => legalName(segment) ?? []);
  const count = (name: string): number => names.filter(({ text }) => folded(text) === folded(name)).length;
  const best = names.reduce<(typeof names)[number] | undefined>(
    (most, name) => (most === undefined || count(name.text) > count(most.text) ? name : most),
    undefined,
  );
  return best === undefined ? undefined : textFinding([best], evidence);
}

/** The part of a segment up to its legal form, when it reads as a name. */
function legalName(
  segment: Segment,
): { segment: Segment; from: number; to: number; text: string } | undefined {
  const match = LEGAL_FORM.exec(segment.text);
  if (match === null) return undefined;
  const to = match.index + match[0].length;
  const before = segment.text.slice(0, to);
  const from = Math.max(before.lastIndexOf(': ') + 2, before.lastIndexOf(' by ') + 4, 0);
  const start = from > 4 || before.includes(': ') ? from : 0;
  const text = before.slice(start).trim();
  const words = text.split(' ').length;
  return words >= 2 && words <= 7 && isName(text) ? { segment, from: start, to, text } : undefined;
}
