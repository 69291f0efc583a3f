import type { DocumentPage } from '../document/document.ts';
import type { DocumentClass, DocumentPart, SortingReason } from '../ports/sorting.ts';
import { classesOf, classified, type Classes } from './classify.ts';
import { pageFactsOf, type PageFacts } from './pageFacts.ts';
import type { Seam } from './seamFeatures.ts';
import { chanceOf, seamsOf, toldBy } from './seams.ts';

/** What a feature of a seam says, as a sentence, and the line that shows it. */
const SAID: Readonly<
  Record<string, (seam: Seam) => Omit<SortingReason, 'page'> & { readonly page?: number }>
> = {
  begins: ({ after }) => ({
    text: `The page says that it is the first: ${quoted(after.mark?.line.text)}.`,
    bbox: after.mark?.line.box ?? null,
  }),
  begins_alone: ({ after }) => ({ text: 'The page has the number 1.', bbox: after.mark?.line.box ?? null }),
  was_last: ({ before }) => ({
    text: `The page before says that it is the last: ${quoted(before.mark?.line.text)}.`,
    bbox: before.mark?.line.box ?? null,
    page: before.page,
  }),
  other_total: ({ after }) => ({
    text: 'The number of pages that it tells is another.',
    bbox: after.mark?.line.box ?? null,
  }),
  jumps: ({ after }) => ({
    text: 'Its number does not follow that of the page before.',
    bbox: after.mark?.line.box ?? null,
  }),
  lost: () => ({ text: 'The page before has a number, and it has none.', bbox: null }),
  salutation: ({ after }) => ({
    text: `A letter begins: ${quoted(after.salutation?.text)}.`,
    bbox: after.salutation?.box ?? null,
  }),
  closing: ({ before }) => ({
    text: `A letter ends on the page before: ${quoted(before.closing?.text)}.`,
    bbox: before.closing?.box ?? null,
    page: before.page,
  }),
  big_title: ({ after }) => ({
    text: `It has a title: ${quoted(after.title?.text)}.`,
    bbox: after.title?.box ?? null,
  }),
  unlike: () => ({ text: 'Its words are others than those of the page before.', bbox: null }),
  very_unlike: () => ({ text: 'It has hardly a word of the page before.', bbox: null }),
  unlike_past: () => ({ text: 'Its words are others than those of the pages before.', bbox: null }),
  head_unlike: () => ({ text: 'Its head is another than that of the page before.', bbox: null }),
  foot_unlike: () => ({ text: 'Its foot is another than that of the page before.', bbox: null }),
  other_size: () => ({ text: 'It has another size than the page before.', bbox: null }),
  turned: () => ({ text: 'It lies the other way than the page before.', bbox: null }),
  other_source: () => ({ text: 'One of the two pages is a scan and the other is not.', bbox: null }),
  other_font: () => ({ text: 'Its letters have another size.', bbox: null }),
  other_margin: () => ({ text: 'Its text begins at another distance from the edge.', bbox: null }),
  has_blank: () => ({ text: 'A blank page is before it.', bbox: null }),
  ends_early: () => ({ text: 'The page before ends early.', bbox: null }),
  no_names_shared: () => ({ text: 'It has none of the numbers of the pages before.', bbox: null }),
  head_names_differ: () => ({ text: 'The numbers in its head are others.', bbox: null }),
  same_form_other_name: () => ({ text: 'It is the same form with another number.', bbox: null }),
  dates_differ: () => ({ text: 'It has other dates.', bbox: null }),
};

const QUOTED_MAX = 80;
const quoted = (text = ''): string => `“${text.trim().slice(0, QUOTED_MAX)}”`;

const BEGIN_REASONS_MAX = 4;

function reasonsOf(seam: Seam | undefined): readonly SortingReason[] {
  if (seam === undefined) return [];
  const said = [
    ...new Set([
      ...(seam.after.mark?.number === 1 && seam.after.mark.isSaid ? ['begins'] : []),
      ...toldBy(seam),
    ]),
  ].flatMap((name) => {
    const reason = SAID[name]?.(seam);
    return reason === undefined ? [] : { page: seam.after.page, ...reason };
  });
  return said.slice(0, BEGIN_REASONS_MAX);
}

interface Piece {
  readonly pages: readonly DocumentPage[];
  readonly facts: readonly PageFacts[];
  /** Where it begins; undefined for the first. */
  readonly seam: Seam | undefined;
  /** That it begins and ends there and nowhere between. */
  readonly sure: number;
}

/** A chance of at least that parts. */
const PARTING = 0.5;

/**
 * A number that is the same on every page is printed on a form, and says nothing of the page. `1 of 1` may be said by
 * documents of a page each.
 */
function withoutFormMarks(facts: readonly PageFacts[]): readonly PageFacts[] {
  const printed = facts.filter(({ count }) => count > 0);
  const { mark } = printed[0] ?? {};
  const isSame = printed.every((one) => one.mark?.number === mark?.number && one.mark?.of === mark?.of);
  if (mark === undefined || mark.of === 1 || printed.length < 2 || !isSame) return facts;
  return facts.map((one) => ({ ...one, mark: undefined }));
}

function piecesOf(pages: readonly DocumentPage[]): readonly Piece[] {
  const facts = withoutFormMarks(pages.map(pageFactsOf));
  const seams = seamsOf(facts).map((seam) => ({ seam, chance: chanceOf(seam) }));
  const cuts = seams.filter(({ chance }) => chance >= PARTING);
  const begins = [0, ...cuts.map(({ seam }) => facts.indexOf(seam.after))];
  return begins.map((from, at) => {
    const to = begins[at + 1] ?? pages.length;
    const inside = new Set(facts.slice(from, to));
    const sures = seams.flatMap(({ seam, chance }) => {
      if (inside.has(seam.before) && inside.has(seam.after)) return 1 - chance;
      return inside.has(seam.before) || inside.has(seam.after) ? chance : [];
    });
    return {
      pages: pages.slice(from, to),
      facts: facts.slice(from, to),
      seam: cuts[at - 1]?.seam,
      sure: Math.min(1, ...sures),
    };
  });
}

function partOf({ pages, facts, seam, sure }: Piece, classes: Classes): DocumentPart {
  const { class: name, confidence, reasons } = classified(pages, facts, classes);
  const isClassed = classes.sought.length > 0;
  return {
    pages: pages.map(({ page }) => page),
    class: name,
    confidence: Math.round(1000 * Math.min(sure, isClassed ? confidence : 1)) / 1000,
    reasons: [...reasonsOf(seam), ...reasons],
  };
}

/** Parts a stack: each page belongs to one document, blank ones to that before them. */
export function split(
  pages: readonly DocumentPage[],
  given: readonly DocumentClass[],
): readonly DocumentPart[] {
  if (pages.length === 0) return [];
  const classes = classesOf(given);
  return piecesOf(pages).map((piece) => partOf(piece, classes));
}
