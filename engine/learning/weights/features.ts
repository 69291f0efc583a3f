import { currencyOf } from '../../extraction/values/numbers.ts';
import type { Segment } from '../../extraction/places/layout.ts';
import { featureOf } from './hashing.ts';
import type { Spot } from './spots.ts';
import { wordsOfLabel, type Surroundings, type Words } from './surroundings.ts';

/** Places of the weights that a spot touches. */
export interface Features {
  /** What stands around it and how it looks. */
  readonly general: Int32Array;
  /** Where it stands. */
  readonly position: Int32Array;
}

/** How large the pages are, and how large their letters usually. */
export interface PageSizes {
  readonly widthOf: (page: number) => number;
  readonly heightOf: (page: number) => number;
  readonly pages: number;
  readonly fontSize: number | null;
}

const WORDS_MAX = 4;

/** The features of a spot, hashed. */
export function featuresOf(spot: Spot, around: Surroundings, sizes: PageSizes): Features {
  const general = [...labelFeatures(labelsAt(spot, around)), ...lookFeatures(spot, sizes)];
  return { general: hashed(general), position: hashed(positionFeatures(spot, sizes)) };
}

const hashed = (features: readonly string[]): Int32Array => Int32Array.from(new Set(features.map(featureOf)));

/** The labels of a spot: what stands before it in its own segment, left of it, above it, and its section. */
export interface Labels extends Surroundings {
  readonly own: Words;
}

/** Currencies before an amount name nothing. */
const withoutCurrency = (text: string): string =>
  text.replace(/[A-Za-z]+\.?/g, (mark) => (currencyOf(mark) === undefined ? mark : ' '));

export function labelsAt({ parts: [{ segment, from }] }: Spot, around: Surroundings): Labels {
  return { ...around, own: wordsOfLabel(withoutCurrency(segment.text.slice(0, from))) };
}

/** The label that names a spot most closely, as one text: its own, else the left one, else the one above. */
export const nearestLabel = ({ own, left, above }: Labels): string =>
  [own, left, above].find((words) => words.length > 0)?.join(' ') ?? '';

/** All labels that may name a spot: its own, else the left one and the one above. */
export function namingLabels({ own, left, above }: Labels): readonly string[] {
  const places = own.length > 0 ? [own] : [left, above];
  return places.filter((words) => words.length > 0).map((words) => words.join(' '));
}

function labelFeatures(labels: Labels): readonly string[] {
  const { own, left, above, higher, section, right } = labels;
  const places = { o: own, l: left, a: above };
  return [
    ...Object.entries(places).flatMap(([place, words]) => wordFeatures(place, words)),
    `h=${higher.join(' ')}`,
    `s=${section.join(' ')}`,
    `r=${right.join(' ')}`,
    `near=${nearestLabel(labels)}`,
    `near+s=${nearestLabel(labels)}|${section.join(' ')}`,
    `l+a=${left.join(' ')}|${above.join(' ')}`,
  ];
}

function wordFeatures(place: string, words: Words): readonly string[] {
  const last = words.slice(-WORDS_MAX);
  const pairs = last.slice(1).map((word, i) => `${place}:${last[i] ?? ''} ${word}`);
  return [`${place}=${words.join(' ')}`, ...last.map((word) => `${place}~${word}`), ...pairs];
}

function lookFeatures({ parts, cut, typed }: Spot, sizes: PageSizes): readonly string[] {
  const [{ segment, from, to }] = parts;
  const text = segment.text.slice(from, to);
  const look = [
    `cut=${cut}`,
    `shape=${shapeOf(text)}`,
    `cut+shape=${cut}|${shapeOf(text)}`,
    `words=${Math.min(6, text.split(' ').length)}`,
    `rest=${segment.text.length > to ? 'more' : 'end'}`,
    ...typeFeatures(segment, sizes),
  ];
  return [...look, ...(typed === undefined ? sayFeatures(text) : [`strict=${typed.strictness}`])];
}

/** Bold, and much larger than usual. */
function typeFeatures({ words: [word] }: Segment, { fontSize }: PageSizes): readonly string[] {
  const isLarge = (word?.fontSize ?? 0) > 1.25 * (fontSize ?? Number.POSITIVE_INFINITY);
  return [`bold=${String(word?.bold ?? false)}`, `large=${String(isLarge)}`];
}

/** A text by its first word, its last, and as a whole: what one layout always says. */
function sayFeatures(text: string): readonly string[] {
  const words = text.toLowerCase().split(' ');
  return [`first=${words[0] ?? ''}`, `last=${words.at(-1) ?? ''}`, `is=${words.join(' ')}`];
}

/** Runs of capitals, small letters and digits as one sign each: `AB-1234 c` is `A-9 a`. */
export const shapeOf = (text: string): string =>
  text
    .slice(0, 40)
    .replace(/\p{Lu}+/gu, 'A')
    .replace(/[\p{Ll}\p{Lo}]+/gu, 'a')
    .replace(/\d+/g, '9');

/** A page is so many bins wide and high. */
const COLUMNS = 6;
const ROWS = 10;

function positionFeatures(spot: Spot, { widthOf, heightOf, pages }: PageSizes): readonly string[] {
  const [{ segment }] = spot.parts;
  const page = segment.page === 1 ? 'first' : segment.page === pages ? 'last' : 'middle';
  const x = binned(segment.x0, widthOf(segment.page), COLUMNS);
  const right = binned(segment.x1, widthOf(segment.page), COLUMNS);
  const y = binned(segment.y0, heightOf(segment.page), ROWS);
  return [
    `page=${page}`,
    `x=${x}`,
    `right=${right}`,
    `y=${page}${y}`,
    `xy=${page}${x},${y}`,
    `rank=${spot.cut}${Math.min(6, spot.rank)}`,
    `end=${spot.cut}${Math.min(6, spot.rankFromEnd)}`,
    `in=${placeInRow(spot, segment)}`,
  ];
}

const binned = (at: number, size: number, bins: number): number =>
  Math.max(0, Math.min(bins - 1, Math.floor((bins * at) / Math.max(1, size))));

const placeInRow = ({ parts: [{ from }] }: Spot, { starts }: Segment): string =>
  from === 0 ? 'start' : String(Math.min(4, starts.filter((start) => start < from).length));
