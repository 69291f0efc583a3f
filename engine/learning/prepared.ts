import type { Document } from '../document/document.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { foundByRules, readingOf, type Reading, type ReadingOptions } from '../extraction/extract.ts';
import type { Field } from '../extraction/fields/fields.ts';
import type { Signed } from '../extraction/finding.ts';
import type { Layout, Segment } from '../extraction/places/layout.ts';
import type { ValueKind } from '../extraction/words/concepts.ts';
import { featuresOf, labelsAt, namingLabels, type Features, type PageSizes } from './weights/features.ts';
import { textSpots, typedSpots, type Spot } from './weights/spots.ts';
import { surroundingsIn } from './weights/surroundings.ts';
import { sightingsOf, type Sightings } from './weights/templates.ts';
import { remembered } from '../kernel/once.ts';

/** A spot with what is learned from. */
export interface Seen {
  readonly spot: Spot;
  readonly features: Features;
  /** The labels that may name it. */
  readonly labels: readonly string[];
}

/** A document made ready for learning: everything that does not change from one round to the next. */
export interface Prepared {
  readonly reading: Reading;
  readonly sightings: Sightings;
  /** What the rules find for a leaf. */
  readonly byRules: (field: Field) => Signed | undefined;
  readonly typed: (kinds: readonly ValueKind[]) => readonly Seen[];
  readonly texts: () => readonly Seen[];
  /** A value computed once for a key. */
  readonly remembered: (key: string, compute: () => Json | undefined) => Json | undefined;
}

/** Undefined for a schema that no object fills. */
export function prepared(
  document: Document,
  schema: JsonObject,
  options?: ReadingOptions,
): Prepared | undefined {
  const reading = readingOf(document, schema, options);
  return reading === undefined ? undefined : preparedFrom(document, reading);
}

function preparedFrom(document: Document, reading: Reading): Prepared {
  const { source } = reading;
  const around = surroundingsIn(source.layout);
  const sizes = sizesOf(document, source.layout);
  const seen = (spot: Spot): Seen => {
    const surroundings = around(spot.parts[0].segment);
    const labels = namingLabels(labelsAt(spot, surroundings));
    return { spot, features: featuresOf(spot, surroundings, sizes), labels };
  };
  const found = new Map<string, Signed | undefined>();
  const values = new Map<string, Json | undefined>();
  const pools = new Map<string, readonly Seen[]>();
  return {
    reading,
    sightings: sightingsOf(source.layout),
    byRules: (field) => remembered(found, field.pointer, () => foundByRules(field, reading)),
    typed: (kinds) => remembered(pools, kinds.join(), () => typedSpots(source, kinds).map(seen)),
    remembered: (key, compute) => remembered(values, key, compute),
    texts: () => remembered(pools, 'texts', () => textSpots(source).map(seen)),
  };
}

function sizesOf({ pages }: Document, { segments }: Layout): PageSizes {
  const farthest = (side: 'x1' | 'y1', of: (segment: Segment) => boolean): number =>
    segments.reduce((most, segment) => (of(segment) ? Math.max(most, segment[side]) : most), 1);
  const widths = new Map<number, number>();
  const heights = new Map<number, number>();
  const known = new Map(pages.map((page) => [page.page, page]));
  const sizes = segments.flatMap(({ words }) => words[0]?.fontSize ?? []).sort((a, b) => a - b);
  return {
    widthOf: (page) =>
      remembered(
        widths,
        page,
        () => known.get(page)?.width ?? farthest('x1', (segment) => segment.page === page),
      ),
    heightOf: (page) =>
      remembered(
        heights,
        page,
        () => known.get(page)?.height ?? farthest('y1', (segment) => segment.page === page),
      ),
    pages: pages.length,
    fontSize: sizes[Math.floor(sizes.length / 2)] ?? null,
  };
}
