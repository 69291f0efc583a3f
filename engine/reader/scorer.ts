import type { Word } from '../document/document.ts';
import { MIN_CONFIDENCE } from '../extraction/confidenceFloor.ts';
import type { Outcome } from '../ports/why.ts';
import { isUnlike } from '../extraction/fields/examples.ts';
import type { Field } from '../extraction/fields/fields.ts';
import type { Finding, Signed } from '../extraction/finding.ts';
import { termsIn } from '../extraction/fields/terms.ts';
import { says } from '../extraction/words/says.ts';
import { wordsIn, type Segment } from '../extraction/places/layout.ts';
import { labelIndexOf } from '../extraction/singles/labelIndex.ts';
import { impliedBy, shapeOf } from '../extraction/singles/shapes.ts';
import { isTrade } from '../extraction/singles/singles.ts';
import { withoutCode } from '../extraction/singles/values.ts';
import { isNoValue } from '../extraction/singles/vetoes.ts';
import type { Source } from '../extraction/source.ts';
import { askedOf, type Asked } from './asked.ts';
import { isSame } from './candidates.ts';
import { candidatesOf as candidatesIn, FEATURES, type Candidate, type Ruled } from './features.ts';
import { opinionsOf, toldFor, type Judgement, type Opinion } from './opinions.ts';
import { placesOf, type Places } from './places.ts';
import { spanAt, spansOf, type Span } from './spans.ts';
import { logistic, scoring, type Trees } from './trees.ts';
import shipped from './weights.json' with { type: 'json' };

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
}

/** What the rules find for a field. */
export type ByRules = (field: Field) => Signed | undefined;

export interface Scorer {
  readonly odds: (row: Float32Array) => number;
  readonly chanceOf: (signals: readonly number[]) => number;
}

/** A scorer of weights; throws where they are of other features. */
export function scorerOf({ features, trees, chance }: Weights): Scorer {
  if (features.join() !== FEATURES.join())
    throw new Error('The weights of the reader are of other features.');
  const { bias, means, weights } = chance;
  return {
    odds: scoring(trees),
    chanceOf: (signals) =>
      logistic(signals.reduce((sum, value, i) => sum + (weights[i] ?? 0) * (value - (means[i] ?? 0)), bias)),
  };
}

let ready: Scorer | undefined;
const shippedScorer = (): Scorer => (ready ??= scorerOf(shipped));

/** Fields of a schema, and everything that could be the value of each. */
export interface Weighed {
  readonly asked: readonly Asked[];
  readonly ruled: readonly (Signed | undefined)[];
  readonly candidates: readonly (readonly Candidate[])[];
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
  for (const [i, one] of asked.entries()) {
    const finding = ruled[i];
    if (finding !== undefined) answers.set(one, { finding, span: spanOf(finding) });
  }
  const scene = {
    spans,
    asked,
    places,
    pages: source.layout.pages,
    segments: source.layout.segments.length,
    isRecognised: source.document.pages.some((page) => page.source === 'ocr'),
  };
  return { asked, ruled, candidates: candidatesIn(scene, (one) => answers.get(one)) };
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
}

/** What was weighed, and what is chosen of it. */
export interface Singles {
  /** The values by the pointers of their fields. */
  readonly findings: ReadonlyMap<string, Signed>;
  /** Everything that could be the value of a field. */
  readonly candidatesOf: (field: Field) => readonly Candidate[];
  /** Log odds of a candidate by what was learned before it shipped. */
  readonly oddsOf: (candidate: Candidate) => number;
}

/**
 * The values of a schema's single fields: what the rules found is weighed beside everything else that stands on
 * the pages. The same document, schema and weights give the same values.
 */
export function scoredSingles(
  fields: readonly Field[],
  source: Source,
  { byRules, isFinal, isLate }: Rules,
): Singles {
  const decided = new Map<string, Signed>();
  const decide = (field: Field, finding: Signed | undefined): void => {
    if (finding !== undefined) decided.set(field.pointer, finding);
    else decided.delete(field.pointer);
  };
  for (const field of fields) decide(field, byRules(field));
  noteFacts(decided, fields.filter(isFinal), source);
  const scorer = shippedScorer();
  const oddsOf = ({ row }: Candidate): number => scorer.odds(row);
  if (isLate?.() === true || source.without?.has('reader') === true)
    return { findings: decided, candidatesOf: () => [], oddsOf };
  const { asked, ruled, candidates } = weighed(fields, source, byRules);
  const judgement = opinionsOf(asked, candidates, scorer.odds);
  const isKnown = isTrade(fields);
  noteChoices(asked, judgement, source);
  for (const opinion of judgement.opinions) {
    const one = asked[opinion.field];
    if (one === undefined) continue;
    const { field } = one;
    const own = besideExamples(
      field,
      inColumn(one, scoredFinding(one, opinion, scorer), { opinion, source }),
    );
    const isUnnamed = own.confidence < leastFor(one, opinion, isKnown);
    const verdict: Verdict = isFinal(field)
      ? { finding: decided.get(field.pointer), ofOwn: 'fact_first' }
      : verdictOn(ruled[opinion.field], own, isUnnamed ? 'unnamed' : barOf(field, own, source));
    noteVerdict(source, field, { own, ofOwn: verdict.ofOwn, liking: () => likingOf(opinion, judgement) });
    decide(field, verdict.finding);
  }
  const candidatesOf = ({ pointer }: Field): readonly Candidate[] =>
    candidates[asked.findIndex(({ field }) => field.pointer === pointer)] ?? [];
  return { findings: decided, candidatesOf, oddsOf };
}

/** What is left of a finding's confidence where the schema's examples are no text like its value. */
const UNLIKE = 0.6;

const besideExamples = ({ examples }: Field, own: Signed): Signed =>
  isUnlike(own.value, examples) ? { ...own, confidence: thousandths(UNLIKE * own.confidence) } : own;

/** A figure of a column is one of a list's, and seldom the document's. */
const OF_COLUMN = 0.6;

interface Standing {
  readonly opinion: Opinion;
  readonly source: Source;
}

/** What is left of a finding's confidence where it stands in a column of figures, whose row does not say the field. */
function inColumn({ field }: Asked, own: Signed, { opinion, source }: Standing): Signed {
  const { segment } = opinion.candidate.span;
  if (!labelIndexOf(source).form.columns.has(segment)) return own;
  const [first] = source.layout.rows[segment.row]?.segments ?? [];
  const label = first === undefined || first === segment ? [] : termsIn(first.text);
  const said = says({ label, context: [], implied: impliedBy(shapeOf(field)) }, field.terms);
  return said >= TOLD_MIN ? own : { ...own, confidence: thousandths(OF_COLUMN * own.confidence) };
}

/** What the rules know and do not find is found so surely or not at all. */
const KNOWN_MIN = 0.9;

/** A label says a field from so well on. */
const TOLD_MIN = 0.5;

/**
 * How sure the scorer must be. In a schema that the rules were made for they miss little; elsewhere a value is told
 * by a label. A date or a number needs none where the rules do not know the field by its concept: its form speaks
 * for it, and the chance says all. A text that no label says is anybody's.
 */
function leastFor({ field, form }: Asked, { candidate }: Opinion, isKnown: boolean): number {
  const speaks = (form === 'date' || form === 'number') && field.concept === undefined;
  return !isKnown && (speaks || toldFor(candidate) >= TOLD_MIN) ? 0 : KNOWN_MIN;
}

/** A finding of the rules; `isKnown`: of a schema that they were made for. */
type ByRule = Signed & { readonly isKnown?: boolean };

/** Where the scorer likes another value better, the rules are so much less sure. */
const DOUBT = 0.9;

const thousandths = (share: number): number => Math.round(1000 * share) / 1000;

/** What a field is given, and what became of the scorer's own value. */
interface Verdict {
  readonly finding: Signed | undefined;
  readonly ofOwn: Outcome;
}

const barOf = (field: Field, own: Signed, source: Source): Outcome | undefined =>
  isNoValue(field, own, source) ? 'no_value' : undefined;

const aloneVerdict = (own: Signed, barred: Outcome | undefined): Verdict =>
  barred === undefined ? { finding: own, ofOwn: 'won' } : { finding: undefined, ofOwn: barred };

/** Of what the rules and the scorer say the surer one; `barred`: why the scorer's own can be no value. */
function verdictOn(rule: ByRule | undefined, own: Signed, barred: Outcome | undefined): Verdict {
  if (rule === undefined) return aloneVerdict(own, barred);
  const same = isSame(rule.value, own.value);
  if (rule.isKnown === true && rule.confidence >= MIN_CONFIDENCE)
    return { finding: rule, ofOwn: same ? 'same' : 'rules_first' };
  if (same)
    return { finding: agreed(rule, own, barred === undefined || isNamedBy(rule, barred)), ofOwn: 'same' };
  const confidence = thousandths(DOUBT * rule.confidence);
  if (barred === undefined && own.confidence > confidence) return { finding: own, ofOwn: 'won' };
  return { finding: { ...rule, confidence }, ofOwn: barred ?? 'lower' };
}

/** The scorer sees no label, and a label named it. */
const isNamedBy = ({ by }: ByRule, barred: Outcome): boolean => barred === 'unnamed' && by === 'labels';

/** A value that both found is as sure as the surer of them; `may`: the scorer's own could be a value. */
const agreed = (rule: ByRule, own: Signed, may: boolean): Signed =>
  may ? { ...rule, confidence: Math.max(own.confidence, rule.confidence) } : rule;

interface OwnVerdict {
  readonly own: Signed;
  readonly ofOwn: Outcome;
  readonly liking: () => number | null;
}

/** Tells what became of the value that the scorer liked best. */
function noteVerdict({ why }: Source, { pointer }: Field, { own, ofOwn, liking }: OwnVerdict): void {
  if (why === undefined) return;
  if (ofOwn === 'won') why.passOver(pointer, 'lower');
  why.offer(pointer, own, { outcome: ofOwn, score: liking() });
}

/** Tells the values of fields that have no other. */
function noteFacts(decided: ReadonlyMap<string, Signed>, fields: readonly Field[], { why }: Source): void {
  for (const { pointer } of why === undefined ? [] : fields) {
    const finding = decided.get(pointer);
    if (finding !== undefined) why?.offer(pointer, finding, { outcome: 'won' });
  }
}

const likingOf = ({ field, candidate }: Opinion, { choices }: Judgement): number | null =>
  choices[field]?.find((choice) => choice.candidate === candidate)?.score ?? null;

/** Tells the values that the scorer did not choose; what it makes of the chosen ones follows. */
function noteChoices(
  asked: readonly Asked[],
  { choices, opinions, ownerOf }: Judgement,
  { why }: Source,
): void {
  if (why === undefined) return;
  const best = new Map(opinions.map(({ field, candidate }) => [field, candidate]));
  for (const [at, one] of asked.entries())
    for (const choice of choices[at] ?? []) {
      if (choice.candidate === best.get(at)) continue;
      const owner = ownerOf(choice);
      const isTaken = owner !== undefined && owner !== at;
      why.offer(
        one.field.pointer,
        { ...findingOf(one, choice.candidate), confidence: 0, by: 'reader' },
        {
          score: choice.score,
          confidence: null,
          outcome: isTaken ? 'taken' : 'lower',
          other: isTaken ? asked[owner]?.field.pointer : undefined,
        },
      );
    }
}

/** A value is never surer than its words were recognised. */
function scoredFinding(one: Asked, { candidate, signals }: Opinion, { chanceOf }: Scorer): Signed {
  const finding = findingOf(one, candidate);
  const read = finding.words.reduce((least, { confidence }) => Math.min(least, confidence), 1);
  return { ...finding, confidence: thousandths(Math.min(read, chanceOf(signals))), by: 'reader' };
}

function findingOf(
  { field }: Asked,
  { span: { segment, from, to, more, text }, value }: Candidate,
): Omit<Finding, 'confidence'> {
  const { page } = segment;
  const shape = shapeOf(field);
  const isNamed = (shape === 'name' || shape === 'text') && value === text && more.length === 0;
  const named = isNamed ? withoutCode(text) : text;
  if (named !== text)
    return { value: named, text: named, page, words: wordsIn(segment, from, from + named.length) };
  return { value, text, page, words: [...wordsIn(segment, from, to), ...more.flatMap((line) => line.words)] };
}
