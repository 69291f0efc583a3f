import type { Word } from '../document/document.ts';
import type { Json } from '../kernel/json.ts';
import type { Field } from '../extraction/fields/fields.ts';
import type { Finding } from '../extraction/finding.ts';
import { wordsIn, type Segment } from '../extraction/places/layout.ts';
import { isNoValue } from '../extraction/singles/vetoes.ts';
import type { Source } from '../extraction/source.ts';
import { askedOf, type Asked } from './asked.ts';
import { isSame } from './candidates.ts';
import { candidatesOf, FEATURES, type Candidate, type Ruled } from './features.ts';
import { opinionsOf, type Opinion, type Weighing } from './opinions.ts';
import { placesOf, type Places } from './places.ts';
import { firstWord, spanAt, spansOf, type Span } from './spans.ts';
import { logistic, scoring, type Trees } from './trees.ts';
import weights from './weights.json' with { type: 'json' };

/** What was learned before it shipped: see `weights.md`. */
export interface Weights {
  /** The names of the features, in their order. */
  readonly features: readonly string[];
  readonly trees: Trees;
  /** The chance of a chosen value: logistic of the sum of its signals, each less a mean and times a weight. */
  readonly chance: {
    readonly bias: number;
    readonly means: readonly number[];
    readonly weights: readonly number[];
  };
  /** Chances, rising from 0 to 1, and the confidences that they are told as; between them in a straight line. */
  readonly levels: { readonly chances: readonly number[]; readonly confidences: readonly number[] };
}

/** What the rules find for a field. */
export type ByRules = (field: Field) => Finding | undefined;

export interface Scorer {
  readonly odds: (row: Float32Array) => number;
  readonly chanceOf: (signals: readonly number[]) => number;
  /** The confidence that a chance is told as. */
  readonly told: (chance: number) => number;
}

/** A scorer of weights; throws where they are of other features. */
export function scorerOf({ features, trees, chance, levels }: Weights): Scorer {
  if (features.join() !== FEATURES.join())
    throw new Error('The weights of the reader are of other features.');
  const { bias, means, weights } = chance;
  return {
    odds: scoring(trees),
    chanceOf: (signals) =>
      logistic(signals.reduce((sum, value, i) => sum + (weights[i] ?? 0) * (value - (means[i] ?? 0)), bias)),
    told: (chance) => between(levels, chance),
  };
}

/** The confidence that a chance is told as. */
function between({ chances, confidences }: Weights['levels'], chance: number): number {
  const next = Math.max(
    1,
    chances.findIndex((one) => one >= chance),
  );
  const [x0 = 0, x1 = 1] = [chances[next - 1], chances[next]];
  const [y0 = 0, y1 = 1] = [confidences[next - 1], confidences[next]];
  return x1 === x0 ? y1 : y0 + ((y1 - y0) * (chance - x0)) / (x1 - x0);
}

let ready: Scorer | undefined;
const shipped = (): Scorer => (ready ??= scorerOf(weights));

/** Fields of a schema, and everything that could be the value of each. */
export interface Weighed extends Weighing {
  readonly ruled: readonly (Finding | undefined)[];
}

/** So many fields are weighed; what a schema asks beyond them the rules alone answer. */
const FIELDS_MAX = 400;

/** Weighs every value that stands in a document for each field of a schema. Work is bounded for any document. */
export function weighed(fields: readonly Field[], source: Source, byRules: ByRules): Weighed {
  const asked = fields.flatMap((field) => askedOf(field) ?? []).slice(0, FIELDS_MAX);
  const ruled = asked.map(({ field }) => byRules(field));
  const places = placesOf(source);
  const spans = spansOf(source, places);
  const spanOf = ruledSpans(source, places);
  const answers = new Map<Asked, Ruled>();
  const answered = sharing(ruled);
  for (const [i, one] of asked.entries()) {
    const finding: ByRule | undefined = ruled[i];
    if (finding === undefined) continue;
    const { isKnown = false } = finding;
    answers.set(one, { finding, span: spanOf(finding), isKnown, shared: answered(finding) });
  }
  const scene = {
    spans,
    asked,
    places,
    pages: source.layout.pages,
    segments: source.layout.segments.length,
    isRecognised: source.document.pages.some((page) => page.source === 'ocr'),
  };
  const candidates = candidatesOf(scene, (one) => answers.get(one));
  const may = (at: number, candidate: Candidate): boolean => {
    const one = asked[at];
    if (one === undefined || candidate.span === answers.get(one)?.span) return true;
    return !isNoValue(one.field, { ...findingOf(candidate), confidence: 1 }, source);
  };
  return { asked, ruled, candidates, may };
}

/** How many other findings begin at the same word. */
function sharing(ruled: Weighed['ruled']): (finding: Finding) => number {
  const counts = new Map<Word, number>();
  for (const {
    words: [first],
  } of ruled.flatMap((one) => one ?? []))
    if (first !== undefined) counts.set(first, (counts.get(first) ?? 0) + 1);
  return ({ words: [first] }) => (first === undefined ? 0 : (counts.get(first) ?? 1) - 1);
}

/** Where a finding of the rules stands; undefined where it was read from no single line. */
function ruledSpans(source: Source, places: Places): (finding: Finding) => Span | undefined {
  let byWord: Map<Word, Segment> | undefined;
  const found = (): Map<Word, Segment> =>
    new Map(
      source.layout.segments.flatMap((segment) => segment.words.map((word) => [word, segment] as const)),
    );
  return ({ words: [first, ...others], text, value }) => {
    const segment = first && (byWord ??= found()).get(first);
    if (first === undefined || segment === undefined) return undefined;
    const from = segment.starts[segment.words.indexOf(first)] ?? 0;
    const last = segment.words.findLastIndex((word) => word === first || others.includes(word));
    const to = (segment.starts[last] ?? 0) + (segment.words[last]?.text.length ?? 0);
    return spanAt({ segment, from, to, text, value }, places);
  };
}

/** What is known of a document before it is weighed. */
export interface Rules {
  readonly byRules: ByRules;
  /** Facts that say all there is, also that there is nothing. */
  readonly isFinal: (field: Field) => boolean;
  /** No time is left: what the rules found is all. */
  readonly isLate?: (() => boolean) | undefined;
  /** Default: the one that ships. */
  readonly scorer?: Scorer | undefined;
}

/**
 * How well a value is liked that begins at a word: the logarithm of the odds that it is a field's; undefined where
 * it was not weighed.
 */
export type Likes = (field: Field, first: Word, value: Json) => number | undefined;

export interface Singles {
  /** By the pointers of their fields. */
  readonly findings: ReadonlyMap<string, Finding>;
  /** Made when it is asked for: examples teach with it. */
  readonly likes: () => Likes;
}

/**
 * The values of a schema's single fields: what the rules found is weighed beside everything else that stands on
 * the pages. The same document, schema and weights give the same values.
 */
export function scoredSingles(
  fields: readonly Field[],
  source: Source,
  { byRules, isFinal, isLate, scorer = shipped() }: Rules,
): Singles {
  const findings = new Map<string, Finding>();
  const decide = (field: Field, finding: Finding | undefined): void => {
    if (finding !== undefined) findings.set(field.pointer, finding);
    else findings.delete(field.pointer);
  };
  for (const field of fields) decide(field, byRules(field));
  if (isLate?.() === true) return { findings, likes: () => () => undefined };
  const found = weighed(fields, source, byRules);
  const opinions = new Map(opinionsOf(found, scorer.odds).map((opinion) => [opinion.field, opinion]));
  for (const [i, { field }] of found.asked.entries()) {
    if (isFinal(field) || found.candidates[i]?.length === 0) continue;
    const opinion = opinions.get(i);
    decide(field, opinion && joined(found.ruled[i], scoredFinding(opinion, scorer)));
  }
  return { findings, likes: () => likesOf(found, scorer) };
}

function likesOf({ asked, candidates }: Weighed, { odds }: Scorer): Likes {
  const all = new Map<string, Map<Word, Map<Json, number>>>();
  for (const [i, { field }] of asked.entries()) {
    const byWord = new Map<Word, Map<Json, number>>();
    all.set(field.pointer, byWord);
    for (const candidate of candidates[i] ?? []) {
      const word = firstWord(candidate.span);
      if (word === undefined) continue;
      const liked = byWord.get(word) ?? new Map<Json, number>();
      byWord.set(
        word,
        liked.set(candidate.value, Math.max(odds(candidate.row), liked.get(candidate.value) ?? -99)),
      );
    }
  }
  return ({ pointer }, first, value) => all.get(pointer)?.get(first)?.get(value);
}

/**
 * What is chosen, in the rules' own words where they found the same. Where they are surer the confidence is half
 * way between: theirs was counted on real documents, badly recognised ones among them.
 */
function joined(rule: Finding | undefined, { told, ...own }: Scored): Finding {
  if (rule === undefined || !isSame(rule.value, own.value)) return own;
  const between = thousandths((told + rule.confidence) / 2);
  return { ...rule, confidence: Math.max(own.confidence, Math.min(rule.confidence, between)) };
}

/** A finding with its confidence before its words were looked at. */
type Scored = Finding & { readonly told: number };

/** A finding of the rules; `isKnown`: of a schema that they were made for. */
type ByRule = Finding & { readonly isKnown?: boolean };

const thousandths = (share: number): number => Math.round(1000 * share) / 1000;

/** A value is never surer than its words were recognised. */
function scoredFinding({ candidate, signals }: Opinion, scorer: Scorer): Scored {
  const finding = findingOf(candidate);
  const read = finding.words.reduce((least, { confidence }) => Math.min(least, confidence), 1);
  const told = thousandths(scorer.told(scorer.chanceOf(signals)));
  return { ...finding, told, confidence: Math.min(thousandths(read), told) };
}

function findingOf({
  span: { segment, from, to, more, text },
  value,
}: Candidate): Omit<Finding, 'confidence'> {
  const words = [...wordsIn(segment, from, to), ...more.flatMap((line) => line.words)];
  return { value, text, page: segment.page, words };
}
