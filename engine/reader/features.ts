import type { Json } from '../kernel/json.ts';
import type { Finding } from '../extraction/finding.ts';
import { WANTS, type Asked } from './asked.ts';
import { isPartly, isSame } from './candidates.ts';
import { formOf, isAfterColon, type Form } from './forms.ts';
import { likenessesOf, scoreAt, SIDE_COUNT, type Likeness } from './likeness.ts';
import { drafting, FIRST_OF, NEAR, type Draft, type Drafting, type Standing } from './pools.ts';
import { RELATIONS, type Places, type Relation } from './places.ts';
import { CUTS, type Span, type SpanKind } from './spans.ts';
import { wordsOf } from './words.ts';

const KINDS: readonly (SpanKind | undefined)[] = [
  undefined, 'number', 'percent', 'date', 'id', 'phone', 'email', 'url', 'iban', 'bic', 'vat_id', 'currency',
  'duration', 'time',
]; // prettier-ignore
const BLOCKS = [undefined, 'paragraph', 'heading', 'list_item', 'table', 'code', 'image'] as const;
const FORMS = ['string', 'number', 'date', 'choice'] as const;

const SPAN_NAMES = [
  'ownLength', 'leftLength', 'aboveLength', 'leftGap', 'aboveGap', 'belowGap', 'rightGap', 'leftColon', 'aboveColon',
  'ownColon', 'numbersAbove', 'inRow', 'leftDigits', 'aboveDigits', 'rightDigits', 'atStart', 'atEnd', 'relation',
  'inCell', 'cut', 'block', 'level', 'lines', 'goesOn', 'cameFrom', 'kind', 'strict', 'words', 'characters', 'digits',
  'upper', 'capitals', 'isUpper', 'comma', 'colon', 'org', 'person', 'address', 'low', 'sentence', 'stops', 'sure',
  'labelLike', 'range', 'columnLabels', 'columnSize', 'segmentLabels', 'textLabels', 'x', 'y', 'x1', 'page', 'lastPage',
  'order', 'font', 'bold', 'pages', 'segments', 'recognised', 'numberRank', 'dateRank', 'dateRankFromEnd',
] as const; // prettier-ignore
const FIELD_NAMES = ['form', ...WANTS.map((want) => `wants.${want}`), 'nameWords', 'depth', 'fields'];
const PAIR_NAMES = [
  'fit', 'rangeFits', 'union.name', 'union.all', 'self.both', 'self.all', 'self.other', 'rival', 'lead', 'best', 'rank',
  'behind', 'tied', 'rankShare', 'sameValue', 'sameLabelled', 'candidates', 'rules.has', 'rules.same', 'rules.sure',
  'rules.partly', 'rules.here',
] as const; // prettier-ignore
const RELATED = RELATIONS.flatMap((relation) =>
  ['both', 'all', 'phrase', 'lexicon'].map((side) => `${relation}.${side}`),
);
const SUMMED = ['near', 'any'].flatMap((name) =>
  ['both', 'name', 'all', 'phrase', 'lexicon'].map((side) => `${name}.${side}`),
);

/** Every feature of a field and a span, in the order of a row. */
export const FEATURES: readonly string[] = [
  ...SPAN_NAMES,
  ...FIELD_NAMES,
  ...PAIR_NAMES,
  ...RELATED,
  ...SUMMED,
];

/** A value that a field may have, and what speaks for it. */
export interface Candidate {
  readonly span: Span;
  readonly value: Json;
  /** The value without case. */
  readonly key: string;
  readonly row: Float32Array;
}

/** What stands on the pages, with what is asked of it. */
export interface Scene {
  readonly spans: readonly Span[];
  readonly asked: readonly Asked[];
  readonly places: Places;
  readonly pages: number;
  readonly segments: number;
  readonly isRecognised: boolean;
}

/** What the rules found for a field, with the span that stands there. */
export interface Ruled {
  readonly finding: Finding;
  readonly span: Span | undefined;
}

interface Ready extends Scene {
  readonly likenesses: readonly Likeness[];
  readonly rivals: Rivals;
  readonly ranks: Ranks;
  readonly spanRows: WeakMap<Span, Float32Array>;
  readonly selves: WeakMap<Span, number>;
  readonly draft: Drafting;
}

/** So many candidates of a field are weighed, and of all fields together. */
const KEPT_MAX = 120;
const WEIGHED_MAX = 30_000;

/** The candidates of every field with their rows; what is unlikely by its labels is left out. */
export function candidatesOf(
  scene: Scene,
  ruled: (asked: Asked) => Ruled | undefined,
): readonly (readonly Candidate[])[] {
  const { asked, spans, places } = scene;
  const answers = asked.map(ruled);
  const selves = new WeakMap<Span, number>();
  for (const span of spans) selves.set(span, places.book.labelOf(selfOf(span)));
  const likenesses = likenessesOf(asked, places.book);
  const rivals = rivalsOf(likenesses, places.book.labels.length);
  const ready: Ready = {
    ...scene,
    likenesses,
    rivals,
    ranks: ranksOf(spans),
    spanRows: new WeakMap(),
    selves,
    draft: drafting(spans, places),
  };
  const kept = Math.max(20, Math.min(KEPT_MAX, Math.floor(WEIGHED_MAX / Math.max(1, asked.length))));
  return asked.map((_, i) => candidatesFor(ready, i, { kept, ruled: answers[i] }));
}

const SELF_MAX = 120;
const selfOf = ({ text }: Span): readonly string[] =>
  text.length < SELF_MAX ? wordsOf(text).slice(0, 10) : [];

/** Of each label the two best scores, and whose the best is. */
interface Rivals {
  readonly best: Float32Array;
  readonly second: Float32Array;
  readonly owner: Int16Array;
  readonly bestBoth: Float32Array;
  readonly secondBoth: Float32Array;
  readonly ownerBoth: Int16Array;
}

function rivalsOf(likenesses: readonly Likeness[], labels: number): Rivals {
  const zeros = (): Float32Array => new Float32Array(labels);
  const rivals = {
    best: zeros(),
    second: zeros(),
    owner: new Int16Array(labels).fill(-1),
    bestBoth: zeros(),
    secondBoth: zeros(),
    ownerBoth: new Int16Array(labels).fill(-1),
  };
  for (const [field, likeness] of likenesses.entries())
    for (const label of likeness.labels) {
      const { best, second, owner, bestBoth, secondBoth, ownerBoth } = rivals;
      note({ best, second, owner }, label, { field, score: scoreAt(likeness, label) });
      const both = likeness.shares[label * SIDE_COUNT] ?? 0;
      note({ best: bestBoth, second: secondBoth, owner: ownerBoth }, label, { field, score: both });
    }
  return rivals;
}

function note(
  { best, second, owner }: Pick<Rivals, 'best' | 'second' | 'owner'>,
  label: number,
  { field, score }: { readonly field: number; readonly score: number },
): void {
  if (score > (best[label] ?? 0)) {
    second[label] = best[label] ?? 0;
    best[label] = score;
    owner[label] = field;
  } else if (score > (second[label] ?? 0)) second[label] = score;
}

const otherThan = (
  { best, second, owner }: Pick<Rivals, 'best' | 'second' | 'owner'>,
  label: number,
  field: number,
): number => (owner[label] === field ? second[label] : best[label]) ?? 0;

/** Numbers and dates of a document in their order, each once. */
interface Ranks {
  readonly numbers: ReadonlyMap<Json, number>;
  readonly dates: ReadonlyMap<Json, number>;
}

function ranksOf(spans: readonly Span[]): Ranks {
  const valuesOf = (kind: SpanKind): readonly Json[] => [
    ...new Set(spans.filter((span) => span.kind === kind).map(({ value }) => value)),
  ];
  const numbers = valuesOf('number')
    .map(Number)
    .sort((a, b) => b - a);
  const dates = valuesOf('date').map(String).sort();
  return {
    numbers: new Map(numbers.map((value, i) => [value, i])),
    dates: new Map(dates.map((value, i) => [value, i])),
  };
}

interface Wanted {
  readonly kept: number;
  readonly ruled: Ruled | undefined;
}

function candidatesFor(ready: Ready, index: number, { kept, ruled }: Wanted): readonly Candidate[] {
  const asked = ready.asked[index];
  const likeness = ready.likenesses[index];
  if (asked === undefined || likeness === undefined) return [];
  const own = ruled?.span && { span: ruled.span, value: ruled.finding.value };
  const { best, standing } = ready.draft(asked, likeness, { kept, own });
  return best.map((draft) => ({
    span: draft.span,
    value: draft.value,
    key: draft.key,
    row: rowOf(draft, { ready, index, asked, likeness, standing, ruled }),
  }));
}

interface Row {
  readonly ready: Ready;
  readonly index: number;
  readonly asked: Asked;
  readonly likeness: Likeness;
  readonly standing: Standing;
  readonly ruled: Ruled | undefined;
}

function rowOf(draft: Draft, row: Row): Float32Array {
  const { span } = draft;
  const {
    ready,
    asked,
    likeness: { shares },
  } = row;
  const features = new Float32Array(FEATURES.length);
  const own = ready.spanRows.get(span) ?? Float32Array.from(spanFeatures(span, ready));
  ready.spanRows.set(span, own);
  features.set(own);
  let at = own.length;
  const put = (values: readonly number[]): void => {
    features.set(values, at);
    at += values.length;
  };
  put(fieldFeatures(asked, ready.asked.length));
  put(pairFeatures(draft, row));
  put(ruleFeatures(draft, row.ruled));
  for (const relation of RELATIONS) {
    const label = span.labels[relation] * SIDE_COUNT;
    features[at] = shares[label] ?? 0;
    for (let side = 2; side < SIDE_COUNT; side += 1) features[at + side - 1] = shares[label + side] ?? 0;
    at += SIDE_COUNT - 1;
  }
  const near = draft.near * SIDE_COUNT;
  for (let side = 0; side < SIDE_COUNT; side += 1) {
    features[at + side] = shares[near + side] ?? 0;
    let most = 0;
    for (const relation of NEAR)
      most = Math.max(most, shares[span.labels[relation] * SIDE_COUNT + side] ?? 0);
    features[at + SIDE_COUNT + side] = most;
  }
  return features;
}

const fieldFeatures = ({ form, wants, name, depth }: Asked, fields: number): readonly number[] => [
  FORMS.indexOf(form),
  ...WANTS.map((want) => wants[want]),
  name.length,
  depth,
  Math.min(60, fields),
];

const UNITED: readonly Relation[] = ['own', 'left', 'above', 'colhead', 'rowhead', 'before', 'section'];

/** Shares of the field that its name alone and all its words are said by all labels around together. */
function united(span: Span, { likeness: { shares } }: Row): readonly [number, number] {
  let [name, all] = [1, 1];
  for (const relation of UNITED) {
    const at = span.labels[relation] * SIDE_COUNT;
    name *= 1 - (shares[at + 1] ?? 0);
    all *= 1 - (shares[at + 2] ?? 0);
  }
  return [1 - name, 1 - all];
}

/** The first of a range, or its last. */
const SIDE_OF_RANGE = [0, 1, -1, 1, -1] as const;

/** How well the labels around a span say another field. */
const bestRival = ({ labels }: Span, rivals: Rivals, index: number): number =>
  (['own', 'left', 'above', 'colhead'] as const).reduce(
    (most, relation) => Math.max(most, otherThan(rivals, labels[relation], index)),
    0,
  );

function pairFeatures({ span, fit, near, told, key }: Draft, row: Row): readonly number[] {
  const { ready, index, asked, likeness, standing } = row;
  const { rivals } = ready;
  const self = ready.selves.get(span) ?? 0;
  const rival = otherThan(rivals, near, index);
  const both = { best: rivals.bestBoth, second: rivals.secondBoth, owner: rivals.ownerBoth };
  const rank = standing.rankOf.get(told) ?? 0;
  const same = standing.same.get(key);
  return [
    fit,
    Math.sign(asked.wants.start - asked.wants.end) * SIDE_OF_RANGE[span.range],
    ...united(span, row),
    likeness.shares[self * SIDE_COUNT] ?? 0,
    likeness.shares[self * SIDE_COUNT + 2] ?? 0,
    otherThan(both, self, index),
    rival,
    scoreAt(likeness, near) - rival,
    bestRival(span, rivals, index),
    Math.min(50, rank),
    standing.top - told,
    Math.min(20, standing.tied),
    rank / standing.rankOf.size,
    Math.min(10, same?.places ?? 0),
    same?.told ?? 0,
    Math.log(standing.drafts),
  ];
}

function ruleFeatures({ span, value }: Draft, ruled: Ruled | undefined): readonly number[] {
  if (ruled === undefined) return [0, 0, 0, 0, 0];
  const { finding } = ruled;
  const agrees = isSame(finding.value, value);
  const [first] = finding.words;
  const isHere = first !== undefined && span.segment.words.includes(first);
  return [
    1,
    Number(agrees),
    agrees ? finding.confidence : -finding.confidence,
    Number(isPartly(finding.value, value)),
    Number(isHere),
  ];
}

const lengthOf = (label: number, { places: { book } }: Ready): number => book.labels[label]?.length ?? 0;

function spanFeatures(span: Span, ready: Ready): readonly number[] {
  const { place, labels, segment, cut, from, to } = span;
  return [
    lengthOf(labels.own, ready),
    lengthOf(labels.left, ready),
    lengthOf(labels.above, ready),
    place.leftGap,
    place.aboveGap,
    place.belowGap,
    place.rightGap,
    Number(place.leftColon),
    Number(place.aboveColon),
    Number(isAfterColon(segment.text, from)),
    place.numbersAbove,
    place.inRow,
    Number(place.leftDigits),
    Number(place.aboveDigits),
    Number(place.rightDigits),
    Number(from === 0),
    Number(to >= segment.text.length),
    FIRST_OF.findIndex((relation) => labels[relation] !== 0),
    Number(place.inCell),
    CUTS.indexOf(cut),
    BLOCKS.indexOf(place.block),
    place.level,
    1 + span.more.length,
    span.goesOn,
    span.cameFrom,
    ...formFeatures(span, formOf(span)),
    ...positionFeatures(span, ready),
  ];
}

const formFeatures = ({ kind, strict, segment, range, place }: Span, form: Form): readonly number[] => [
  KINDS.indexOf(kind),
  strict,
  form.words,
  form.characters,
  form.digits,
  form.upper,
  form.capitals,
  Number(form.isUpper),
  Number(form.hasComma),
  Number(form.hasColon),
  Number(form.isOrg),
  Number(form.isPerson),
  Number(form.isAddress),
  Number(form.beginsLow),
  Number(form.endsSentence),
  form.stops,
  segment.words.reduce((least, { confidence }) => Math.min(least, confidence), 1),
  form.labelLike,
  range,
  place.columnLabels,
  place.columnSize,
  place.labelShare,
  form.labelWords,
];

function positionFeatures({ segment, kind, value }: Span, ready: Ready): readonly number[] {
  const { places, pages, segments, isRecognised, ranks } = ready;
  const [width, height] = places.sizeOf(segment.page);
  const [word] = segment.words;
  const size = word?.fontSize ?? segment.y1 - segment.y0;
  const date = kind === 'date' ? (ranks.dates.get(value) ?? -1) : -1;
  return [
    segment.x0 / width,
    segment.y0 / height,
    segment.x1 / width,
    Math.min(50, segment.page),
    Number(segment.page === pages),
    segment.index / segments,
    size / places.fontSize,
    Number(word?.bold ?? false),
    Math.min(50, pages),
    Math.log(segments),
    Number(isRecognised),
    kind === 'number' ? Math.min(30, ranks.numbers.get(value) ?? -1) : -1,
    Math.min(20, date),
    date < 0 ? -1 : Math.min(20, ranks.dates.size - 1 - date),
  ];
}
