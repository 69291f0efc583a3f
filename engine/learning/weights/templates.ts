import { folded } from '../../kernel/text.ts';
import type { Layout, Row, Segment } from '../../extraction/places/layout.ts';
import { featureOf, hashOf } from './hashing.ts';
import type { Spot } from './spots.ts';
import { remembered } from '../../kernel/once.ts';
import { groupedBy } from '../../kernel/lists.ts';

/** A label of a layout: hash of its text, and points from the left where it begins. */
export type Mark = readonly [hash: number, x: number];

/** What documents of one layout have in common: the labels that do not change from one to the next. */
export interface Template {
  readonly marks: readonly Mark[];
}

/** A mark where it stands in a document. */
interface Sighting {
  readonly hash: number;
  readonly segment: Segment;
}

/** The marks of one document, by hash. */
export type Sightings = ReadonlyMap<number, Sighting>;

const MARKS_MAX = 60;
/** A layout with fewer labels is not known again. */
const MARKS_MIN = 4;
const WORDS_MAX = 5;
/** Labels of one layout begin at the same place; points. */
const SAME_PLACE = 10;

/** A document is of a known layout from this similarity on. */
export const KNOWN_FROM = 0.8;
/** Two documents have one layout when so much of the smaller one's marks are in the other. */
const ALIKE_FROM = 0.6;
/** A mark stands in so many of the documents of its layout. */
const STABLE_SHARE = 0.6;

/** Texts that may be labels: what stands before a colon, and words without numbers that begin a line or column. */
export function sightingsOf({ rows }: Layout): Sightings {
  const found = new Map<number, Sighting>();
  for (const row of rows) {
    for (const [place, segment] of row.segments.entries()) {
      const label = labelOf(segment, place, row);
      if (label === undefined || found.size >= 2 * MARKS_MAX) continue;
      const hash = hashOf(label);
      if (!found.has(hash)) found.set(hash, { hash, segment });
    }
  }
  return found;
}

function labelOf({ text }: Segment, place: number, { segments }: Row): string | undefined {
  const colon = text.indexOf(':');
  const label = colon > 0 ? text.slice(0, colon) : text;
  const before = segments[place - 1];
  const isHeading = segments.every((other) => !/\d/.test(other.text)) && segments.length >= 3;
  if (colon <= 0 && before !== undefined && !isHeading && !/\d/.test(before.text)) return undefined;
  if (/\d/.test(label) || !/\p{L}{2}/u.test(label) || label.split(' ').length > WORDS_MAX) return undefined;
  return folded(label).trim();
}

export const marksOf = (sightings: Sightings): readonly Mark[] =>
  [...sightings.values()].map(({ hash, segment }): Mark => [hash, Math.round(segment.x0)]);

/** Share of a layout's marks that a document has, 0..1; at another place of the line one counts half. */
export function similarity({ marks }: Template, sightings: Sightings): number {
  if (marks.length < MARKS_MIN) return 0;
  const sum = marks.reduce((all, [hash, x]) => {
    const seen = sightings.get(hash);
    if (seen === undefined) return all;
    return all + (Math.abs(seen.segment.x0 - x) <= SAME_PLACE ? 1 : 0.5);
  }, 0);
  return sum / marks.length;
}

/** Documents grouped by layout: for each the number of its group, groups in the order of their first. */
export function layoutGroups(documents: readonly Sightings[]): readonly number[] {
  const firsts: Sightings[] = [];
  return documents.map((sightings) => {
    const known = firsts.findIndex((first) => alike(first, sightings) >= ALIKE_FROM);
    return known >= 0 ? known : firsts.push(sightings) - 1;
  });
}

/** Of either one's marks in the other, the smaller share. */
function alike(a: Sightings, b: Sightings): number {
  return Math.min(similarity({ marks: marksOf(a) }, b), similarity({ marks: marksOf(b) }, a));
}

/** The layouts of documents, by their groups. */
export function templatesOf(documents: readonly Sightings[], groups: readonly number[]): readonly Template[] {
  return [...new Set(groups)]
    .sort((a, b) => a - b)
    .map((group) => templateOf(documents.filter((_, i) => groups[i] === group)));
}

function templateOf(documents: readonly Sightings[]): Template {
  const byHash = groupedBy(documents.flatMap(marksOf), ([hash]) => hash);
  const stable = [...byHash].filter(([, all]) => all.length >= STABLE_SHARE * documents.length);
  const marks = stable.map(([hash, all]): Mark => {
    const xs = all.map(([, x]) => x).sort((a, b) => a - b);
    return [hash, xs[Math.floor(xs.length / 2)] ?? 0];
  });
  return { marks: marks.slice(0, MARKS_MAX) };
}

/** A template that a document has, with its marks where they stand in it. */
export interface Match {
  readonly similarity: number;
  /** Features of a spot by where it stands among the marks. */
  readonly anchorsOf: (seen: Anchored) => readonly number[];
}

/** The most similar template; `similarity` tells whether it counts as known. Make one for each document. */
export function matched(templates: readonly Template[], sightings: Sightings): Match {
  const shares = templates.map((template) => similarity(template, sightings));
  const share = Math.max(0, ...shares);
  const template = shares.indexOf(share);
  const anchors = (templates[template]?.marks ?? []).flatMap(([hash]) => sightings.get(hash) ?? []);
  return { similarity: share, anchorsOf: anchorsIn(template, anchors) };
}

const ANCHORS_NEAREST = 3;
/** Offsets are told in steps of points, across and down. */
const STEP_X = 10;
const STEP_Y = 6;

/**
 * Features of a spot in its template: its offset from the nearest marks, and the label beside it. Remembers
 * them, so make one for each match.
 */
function anchorsIn(template: number, anchors: readonly Sighting[]): Match['anchorsOf'] {
  const offsets = new Map<Segment, readonly string[]>();
  const known = new Map<Anchored, readonly number[]>();
  return (seen) =>
    remembered(known, seen, () => {
      const { cut, parts } = seen.spot;
      const [{ segment }] = parts;
      const at = remembered(offsets, segment, () => offsetsOf(segment, anchors));
      const label = seen.labels.flatMap((one) => [`label ${one}`, `label ${one} ${cut}`]);
      return [...at, ...at.map((one) => `${one} ${cut}`), ...label].map((text) =>
        featureOf(`${String(template)}@${text}`),
      );
    });
}

/** A spot and the labels that may name it. */
interface Anchored {
  readonly spot: Spot;
  readonly labels: readonly string[];
}

function offsetsOf(segment: Segment, anchors: readonly Sighting[]): readonly string[] {
  const near = anchors
    .filter((anchor) => anchor.segment.page === segment.page && anchor.segment !== segment)
    .map((anchor) => ({ anchor, distance: distance(anchor.segment, segment) }))
    .sort((a, b) => a.distance - b.distance || a.anchor.hash - b.anchor.hash)
    .slice(0, ANCHORS_NEAREST);
  return near.flatMap(({ anchor: { hash, segment: mark } }) => {
    const dy = Math.round((segment.y0 - mark.y0) / STEP_Y);
    const dx = Math.round((segment.x0 - mark.x0) / STEP_X);
    const end = Math.round((segment.x1 - mark.x0) / STEP_X);
    return [`${hash}:${dx},${dy}`, `${hash}>${end},${dy}`, `${hash}|${dy}`];
  });
}

const distance = (a: Segment, b: Segment): number =>
  Math.hypot(Math.max(0, a.x0 - b.x1, b.x0 - a.x1), 2 * (a.y0 - b.y0));
