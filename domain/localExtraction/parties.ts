import type { Field } from './fields.ts';
import { textFinding, type Finding } from './finding.ts';
import { wholeScore } from './labels.ts';
import { overlap, type Layout, type Segment } from './layout.ts';
import { CONCEPTS, type Concept } from './lexicon.ts';
import type { Source } from './source.ts';
import { isValue } from './texts.ts';
import { postalLine } from './postal.ts';
import { folded } from './words.ts';

const PARTIES = CONCEPTS.filter(({ kind }) => kind === 'party');
const IS_TITLE = 0.8;
const NAME_CHARACTERS_MAX = 80;

const LEGAL_FORM =
  /(?:^|[\s,])(?:GmbH(?: & Co\.? KG(?:aA)?)?|AG|KG|OHG|UG|e\.?K\.?|e\.?V\.?|Ltd\.?|Limited|LLC|LLP|Inc\.?|Corp\.?|Corporation|Company|PLC|S\.?A\.?R\.?L\.?|S\.?A\.?S\.?|SA|S\.?A\.?|S\.?L\.?U?|S\.?r\.?l\.?|S\.?p\.?A\.?|B\.?V\.?|N\.?V\.?|Oy|AB|A\/S|ApS|Lda\.?|Sp\. z o\.o\.|Pvt\.? Ltd\.?|Sdn\.? Bhd\.?|SDN\.? BHD\.?|BHD|LTD\.?|INC\.?|GMBH|S\.?L\.?|S\.?n\.?c\.?|SRL|SARL|SAS|EURL|BV|NV|V\.?O\.?F\.?|Ltda\.?|LTDA\.?|LDA\.?|S\.?N\.?C\.?|S\.?R\.?L\.?|S\.?P\.?A\.?|OHG|Pte\.? Ltd\.?)(?=$|[\s,.;)])/u;

/** A line that opens the section of a party: "Seller:", "Bill to". */
interface Title {
  readonly segment: Segment;
  readonly concept: Concept;
  readonly score: number;
}

/** Whose section a segment stands in: that of the nearest title above it in its column. */
export function partyAt(segment: Segment, source: Source): string | undefined {
  const onPage = titlesByPage(source).get(segment.page) ?? [];
  return onPage.findLast((title) => isBelow(segment, title.segment, 190))?.concept.id;
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

/** The segments that are titles of parties. */
export const titledSegments = (source: Source): ReadonlySet<Segment> =>
  new Set(titles(source).map(({ segment }) => segment));

/** Computed once for a document, for every candidate asks. */
const TITLES = new WeakMap<Source, readonly Title[]>();

function titles(source: Source): readonly Title[] {
  const known = TITLES.get(source);
  if (known !== undefined) return known;
  const all = findTitles(source);
  TITLES.set(source, all);
  return all;
}

const BY_PAGE = new WeakMap<Source, ReadonlyMap<number, readonly Title[]>>();

function titlesByPage(source: Source): ReadonlyMap<number, readonly Title[]> {
  const known = BY_PAGE.get(source);
  if (known !== undefined) return known;
  const pages = new Map<number, Title[]>();
  for (const title of titles(source)) {
    const page = pages.get(title.segment.page);
    if (page === undefined) pages.set(title.segment.page, [title]);
    else page.push(title);
  }
  BY_PAGE.set(source, pages);
  return pages;
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

function nameFor({ segment, score }: Title, source: Source): Finding | undefined {
  const { layout } = source;
  const named = (other: Segment): boolean =>
    isName(other.text) && !isLabel(other, layout) && isValue(other, source);
  const evidence = { label: score, strictness: 0.6, margin: 0.3, agreement: 0 };
  const colon = segment.text.indexOf(':');
  const own = segment.text.slice(colon + 1).trim();
  if (colon >= 0 && isName(own))
    return textFinding([{ segment, from: colon + 1, to: segment.text.length }], evidence);
  const right = layout.rows[segment.row]?.segments.find(({ index }) => index === segment.index + 1);
  const isCell = segment.words.every(({ box }) => box === null);
  if ((colon >= 0 || isCell) && right !== undefined && named(right)) return wholeFinding(right, evidence);
  const below = layout.segments
    .filter((other) => isBelow(other, segment, 60))
    .slice(0, 6)
    .find(named);
  if (below !== undefined) return wholeFinding(below, evidence);
  return right !== undefined && named(right) ? wholeFinding(right, { ...evidence, margin: 0.1 }) : undefined;
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

const DOCUMENT_WORDS = new Set(
  'invoice receipt tax bill statement payment order purchase quotation quote estimate delivery note credit memo debit proforma pro forma copy original duplicate cash simplified page commercial sales guest check account bank summary slip official confirmation rechnung gutschrift lieferschein angebot mahnung quittung kassenbon bestellung auftrag auftragsbestatigung kontoauszug facture avoir devis recu ticket commande releve factura albaran recibo presupuesto extracto simplificada fattura ricevuta scontrino preventivo ordine documento commerciale factuur bon offerte pakbon kassabon creditnota afschrift fatura recibo orcamento extrato encomenda vat customer'.split(
    ' ',
  ),
);

/** The title of a document, which names no one. */
const isDocumentTitle = (text: string): boolean =>
  folded(text)
    .split(/[^\p{L}]+/u)
    .every((word) => word === '' || DOCUMENT_WORDS.has(word));

/** Letters, no label, no address line, not too long. */
function isName(text: string): boolean {
  return (
    /^[\p{L}\p{N}"'“„]/u.test(text) &&
    /\p{L}{2,}/u.test(text) &&
    text.length <= NAME_CHARACTERS_MAX &&
    !isDocumentTitle(text) &&
    !/^[^:]{2,30}:/.test(text) &&
    postalLine(text) === undefined &&
    !/@|https?:|www\./.test(text) &&
    !/\d{3,}/.test(text) &&
    wordsWithDigits(text) * 3 < text.split(' ').length
  );
}

const wordsWithDigits = (text: string): number => text.split(' ').filter((word) => /\d/.test(word)).length;

/** Who the letter is to: the first address block whose name is not the sender's. */
function buyerByPlace(source: Source): Finding | undefined {
  const seller = sellerName(source);
  const tops = addressTops(source);
  const buyer = tops.find(({ text }) => seller === undefined || !folded(text).includes(folded(seller)));
  const evidence = { label: 0.45, strictness: 0.5, margin: 0, agreement: 0 };
  return buyer === undefined ? undefined : wholeFinding(buyer, evidence);
}

/** The seller's name as the document has it. */
export function sellerName(source: Source): string | undefined {
  const known = SELLERS.get(source);
  if (known !== undefined) return known.text;
  const titled = titles(source)
    .filter(({ concept }) => concept.id === 'seller')
    .flatMap((title) => nameFor(title, source) ?? []);
  const found = titled[0] ?? sellerByPlace(source);
  SELLERS.set(source, { text: found?.text });
  return found?.text;
}

const SELLERS = new WeakMap<Source, { readonly text: string | undefined }>();

/** An address this far down is in the head of any page. */
const TOP_POINTS = 320;

/** The top line of each block that holds a postal line, from the upper half of the first page. */
function addressTops(source: Source): readonly Segment[] {
  const { segments } = source.layout;
  const first = segments.filter(({ page }) => page === segments[0]?.page);
  const height = first.reduce((most, { y1 }) => Math.max(most, y1), 0);
  const named = new Set(titles(source).map(({ segment }) => segment));
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
  let best: { readonly place: Place; readonly score: number } | undefined;
  for (const place of candidates) {
    const score = sellerScore(place, head);
    if (score > (best?.score ?? 0)) best = { place, score };
  }
  if (best === undefined) return undefined;
  const label = Math.min(0.8, 0.3 + 0.08 * best.score);
  return textFinding([best.place], { label, strictness: 0.5, margin: 0.1, agreement: 0 });
}

const LAST_SEGMENTS = 60;
const NAMES_MAX = 60;
const TEXTS_MAX = 2000;
const LINE_CHARACTERS_MAX = 200;
const HEAD_SEGMENTS = 14;

interface Place {
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

interface Head {
  readonly source: Source;
  /** Heights of letters on the first page, points. */
  readonly largest: number;
  readonly usual: number;
  /** The document's texts, folded. */
  readonly texts: readonly string[];
}

/** A line of the head, or the first part of a sender's line. */
function headName(segment: Segment): readonly Place[] {
  if (segment.text.length > LINE_CHARACTERS_MAX) return [];
  if (postalLine(segment.text) !== undefined && segment.text.split(/ [·•|–-] |, /).length < 3) return [];
  const [start = ''] = segment.text.split(/ [·•|–-] |, (?=.*\d)/);
  const text = start.trim();
  return isName(text) && isTitled(text) && text.split(' ').length <= 7
    ? [{ segment, from: 0, to: start.length, text }]
    : [];
}

/** Most of its longer words begin with a capital: a name, not a sentence. */
function isTitled(text: string): boolean {
  const words = text.split(' ').filter((word) => /\p{L}{3}/u.test(word));
  const capital = words.filter((word) => /^[^\p{L}]*\p{Lu}/u.test(word));
  return (
    words.length > 0 && capital.length * 2 > words.length && !/[.!?]$/.test(text.replace(LEGAL_FORM, ''))
  );
}

function sellerScore({ segment, text, to }: Place, { source, largest, usual, texts }: Head): number {
  if (partyAt(segment, source) === 'buyer' || !isValue({ ...segment, text }, source)) return 0;
  const name = folded(text);
  const repeated = Math.min(3, texts.filter((other) => other.includes(name)).length - 1);
  const size = segment.y1 - segment.y0;
  const isLegal = LEGAL_FORM.test(text);
  const isSenderLine = to < segment.text.length && postalPart(segment.text);
  const isHead = segment.row <= 2;
  return (
    (isLegal ? 3 : 0) +
    (isHead ? 3 - segment.row * 0.8 : 0) +
    (size > 1.25 * usual && size > 0.6 * largest ? 2 : 0) +
    (isSenderLine ? 3 : 0) +
    (isLegal || isHead ? repeated : 0)
  );
}

const postalPart = (text: string): boolean =>
  text.split(/ [·•|–-] |, /).some((part) => postalLine(part.trim()) !== undefined);

/** The part of a segment up to its legal form, when it reads as a name. */
function legalName(segment: Segment): Place | undefined {
  if (segment.text.length > LINE_CHARACTERS_MAX) return undefined;
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
