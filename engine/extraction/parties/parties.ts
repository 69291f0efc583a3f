import type { Field } from '../fields/fields.ts';
import { textFinding, type Finding } from '../finding.ts';
import { nextOf } from '../form/neighbours.ts';
import type { Layout, Segment } from '../places/layout.ts';
import { headName, isName, legalName, LEGAL_FORM, type NameInText } from './partyNames.ts';
import { isBelow, partyAt, titledSegments, titles, type Title } from './partyTitles.ts';
import { postalLine } from './postal.ts';
import type { Source } from '../source.ts';
import { isValue } from '../texts.ts';
import { folded } from '../../kernel/text.ts';
import { once } from '../../kernel/once.ts';
import { lexicon } from '../words/lexicon.ts';

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

function nameFor(title: Title, source: Source): Finding | undefined {
  const { segment, score } = title;
  const evidence = { label: score, strictness: 0.6, margin: 0.3, agreement: 0, kind: 'below' as const };
  const colon = segment.text.indexOf(':');
  if (colon >= 0 && isName(segment.text.slice(colon + 1).trim()))
    return textFinding([{ segment, from: colon + 1, to: segment.text.length }], evidence);
  const [beside, below] = namesBy(segment, source);
  const isCell = segment.words.every(({ box }) => box === null);
  if (beside !== undefined && (colon >= 0 || isCell)) return wholeFinding(beside, evidence);
  if (below !== undefined) return wholeFinding(below, evidence);
  return beside === undefined ? undefined : wholeFinding(beside, { ...evidence, margin: 0.1 });
}

/** The names right of a title and below it. */
function namesBy(segment: Segment, source: Source): readonly [Segment | undefined, Segment | undefined] {
  const { segments } = source.layout;
  const named = (other: Segment): boolean =>
    isName(other.text) && !isLabel(other, source.layout) && isValue(other, source);
  const right = nextOf(segment, source.layout);
  const below = segments
    .slice(segment.index + 1, segment.index + NEAR)
    .filter((other) => isBelow(other, segment, 60))
    .slice(0, 6)
    .find(named);
  return [right !== undefined && named(right) ? right : undefined, below];
}

/** What stands under a title is no more segments away. */
const NEAR = 60;

/** What stands beside it begins with a colon. */
const isLabel = (segment: Segment, layout: Layout): boolean =>
  /^\s*:/.test(nextOf(segment, layout)?.text ?? '');

type Strength = Parameters<typeof textFinding>[1];

/** Words before the name in an address: "attn.". */
const ADDRESSED = new RegExp(`^${lexicon.parties.addressed.pattern}[.:\\s]+`, 'i');

function wholeFinding(segment: Segment, evidence: Strength): Finding | undefined {
  const from = ADDRESSED.exec(segment.text)?.[0].length ?? 0;
  return textFinding([{ segment, from, to: segment.text.length }], evidence);
}

/** Who the letter is to: the first address block whose name is not the sender's. */
function buyerByPlace(source: Source): Finding | undefined {
  const seller = sellerName(source);
  const tops = addressTops(source);
  const buyer = tops.find(({ text }) => seller === undefined || !folded(text).includes(folded(seller)));
  const evidence = { label: 0.45, strictness: 0.5, margin: 0, agreement: 0, kind: 'place' as const };
  return buyer === undefined ? undefined : wholeFinding(buyer, evidence);
}

/** The seller's name as the document has it. */
export const sellerName = once((source: Source): string | undefined => {
  const titled = titles(source)
    .filter(({ concept }) => concept.id === 'seller')
    .flatMap((title) => nameFor(title, source) ?? []);
  return (titled[0] ?? sellerByPlace(source))?.text;
});

/** An address this far down is in the head of any page. */
const TOP_POINTS = 320;

/** The top line of each block that holds a postal line, from the upper half of the first page. */
function addressTops(source: Source): readonly Segment[] {
  const { segments } = source.layout;
  const first = segments.filter(({ page }) => page === segments[0]?.page);
  const height = first.reduce((most, { y1 }) => Math.max(most, y1), 0);
  const named = titledSegments(source);
  return first
    .filter(
      ({ text, y0 }) =>
        y0 < Math.max(0.5 * height, TOP_POINTS) && text.length < 60 && postalLine(text) !== undefined,
    )
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
 * Who sends the letter: the name in its head, in large letters, on the sender's line, or the legal name
 * that the document repeats. What stands in the buyer's section is not it.
 */
function sellerByPlace(source: Source): Finding | undefined {
  const { segments } = source.layout;
  const first = segments.filter(({ page }) => page === segments[0]?.page);
  const legal = [...first, ...segments.slice(-LAST_SEGMENTS)].flatMap((one) => legalName(one) ?? []);
  const candidates = [...first.slice(0, HEAD_SEGMENTS).flatMap(headName), ...legal.slice(0, NAMES_MAX)];
  const heights = first.map(({ y0, y1 }) => y1 - y0).sort((a, b) => a - b);
  const head = {
    source,
    largest: heights.at(-1) ?? 0,
    usual: heights[Math.floor(heights.length / 2)] ?? 0,
    texts: segments.slice(0, TEXTS_MAX).map(({ text }) => folded(text)),
  };
  let best: { readonly place: NameInText; readonly score: number } | undefined;
  for (const place of candidates) {
    const score = sellerScore(place, head);
    if (score > (best?.score ?? 0)) best = { place, score };
  }
  if (best === undefined) return undefined;
  const label = Math.min(0.8, 0.3 + 0.08 * best.score);
  return textFinding([best.place], { label, strictness: 0.5, margin: 0.1, agreement: 0, kind: 'place' });
}

const LAST_SEGMENTS = 60;
const NAMES_MAX = 60;
const TEXTS_MAX = 2000;
const HEAD_SEGMENTS = 14;

interface Head {
  readonly source: Source;
  /** Heights of letters on the first page, points. */
  readonly largest: number;
  readonly usual: number;
  /** The document's texts, folded. */
  readonly texts: readonly string[];
}

function sellerScore({ segment, text, to }: NameInText, { source, largest, usual, texts }: Head): number {
  if (partyAt(segment, source) === 'buyer' || !isValue({ ...segment, text }, source)) return 0;
  const repeated = timesRepeated(text, texts);
  const size = segment.y1 - segment.y0;
  const isLegal = LEGAL_FORM.test(text);
  const isHead = segment.row <= 2;
  const isLarge = size > 1.25 * usual && size > 0.6 * largest;
  const signs = [
    isLegal ? 3 : 0,
    isHead ? 3 - segment.row * 0.8 : 0,
    isLarge ? 2 : 0,
    isSenderLine(segment.text, to) ? 3 : 0,
    isLegal || isHead ? repeated : 0,
  ];
  return signs.reduce((sum, sign) => sum + sign, 0);
}

/** How often more the document says a name, up to three times. */
function timesRepeated(text: string, texts: readonly string[]): number {
  const name = folded(text);
  return Math.min(3, texts.filter((other) => other.includes(name)).length - 1);
}

/** A name with street and town after it on one line. */
const isSenderLine = (text: string, to: number): boolean =>
  to < text.length && text.split(/ [·•|–-] |, /).some((part) => postalLine(part.trim()) !== undefined);
