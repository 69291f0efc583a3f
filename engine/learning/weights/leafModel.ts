import type { Json } from '../../kernel/json.ts';
import type { Field } from '../../extraction/fields/fields.ts';
import { findingOf, textFinding, type Finding } from '../../extraction/finding.ts';
import { isEmpty, sameValue, squeezed } from '../scoring/agreement.ts';
import { optionsOf, readAs, type Option } from '../options.ts';
import type { Prepared } from '../prepared.ts';
import { logit, regression, type Case, type Choice, type WeightAt } from './regression.ts';
import { textOfSpot } from './spots.ts';
import { KNOWN_FROM, type Match } from './templates.ts';

const JOINTS = [', ', ' ', '\n'] as const;
type Joint = (typeof JOINTS)[number];

/** What was learned of one leaf. */
export interface LeafModel {
  readonly weightAt: WeightAt;
  /** Labels that name it, whatever the layout. */
  readonly labels: ReadonlySet<string>;
  /** How its lines are joined. */
  readonly joint: Joint;
}

/** A document, its options for the field, and what was expected. */
export interface Lesson {
  readonly document: Prepared;
  readonly match: Match;
  readonly options: readonly Option[];
  readonly expected: Json | undefined;
}

/** Options are costly and never change: they are remembered by document and field. */
const OPTIONS = new WeakMap<Prepared, Map<string, readonly Option[]>>();

/** The options of a field, remembered. */
export function optionsFor(field: Field, document: Prepared): readonly Option[] {
  const known = OPTIONS.get(document) ?? new Map<string, readonly Option[]>();
  OPTIONS.set(document, known);
  const options = known.get(field.pointer) ?? optionsOf(field, document);
  known.set(field.pointer, options);
  return options;
}

const isRightFor =
  (expected: Json | undefined) =>
  ({ value }: Option): boolean =>
    expected !== undefined && !isEmpty(expected) && sameValue(expected, value);

const NOWHERE = { general: [], position: [] };

function choicesOf(options: readonly Option[], match: Match | undefined): readonly Choice[] {
  return options.map(({ seen, byRules, labelScore }) => {
    const { general, position } = seen?.features ?? NOWHERE;
    const anchors = seen === undefined ? undefined : match?.anchorsOf(seen);
    return { general, position, anchors: anchors ?? [], byRules, labelScore };
  });
}

/** The match as far as it counts: below the threshold a layout is unknown. */
const knownOnly = (match: Match): Match | undefined => (match.similarity >= KNOWN_FROM ? match : undefined);

/** Learns a leaf; undefined where no example says its value at a place that can be found. */
export function learnLeaf(lessons: readonly Lesson[], seed: number): LeafModel | undefined {
  const cases = lessons.flatMap(({ options, expected, match }): readonly Case[] => {
    const right = options.flatMap((option, i) => (isRightFor(expected)(option) ? [i] : []));
    const isReachable = right.length > 0 || expected === undefined || isEmpty(expected);
    return isReachable ? [{ choices: choicesOf(options, knownOnly(match)), right }] : [];
  });
  if (cases.every(({ right }) => right.length === 0)) return undefined;
  const weights = regression(cases, seed);
  return { weightAt: (place) => weights[place] ?? 0, labels: labelsOf(lessons), joint: jointOf(lessons) };
}

/** A label counts when it was right in so many documents, and in such a share of those that have it. */
const DOCUMENTS_MIN = 2;
const RIGHT_SHARE = 0.8;
const LABELS_MAX = 12;

function labelsOf(lessons: readonly Lesson[]): ReadonlySet<string> {
  const counts = new Map<string, { right: number; all: number }>();
  for (const { options, expected } of lessons) {
    const isRight = isRightFor(expected);
    const labels = new Set(options.flatMap(({ seen }) => seen?.labels ?? []));
    const right = new Set(options.filter(isRight).flatMap(({ seen }) => seen?.labels ?? []));
    for (const label of labels) {
      const count = counts.get(label) ?? { right: 0, all: 0 };
      count.all += 1;
      if (right.has(label)) count.right += 1;
      counts.set(label, count);
    }
  }
  const good = [...counts].filter(
    ([label, { right, all }]) =>
      /\p{L}{2}/u.test(label) && right >= DOCUMENTS_MIN && right >= RIGHT_SHARE * all,
  );
  return new Set(
    good
      .sort(([a, one], [b, two]) => two.right - one.right || (a < b ? -1 : 1))
      .slice(0, LABELS_MAX)
      .map(([label]) => label),
  );
}

/** How the examples join lines: the way that reads most of them letter by letter. */
function jointOf(lessons: readonly Lesson[]): Joint {
  const hits = JOINTS.map(
    (joint) =>
      lessons.filter(
        ({ options, expected }) =>
          typeof expected === 'string' &&
          options.some(
            ({ seen }) =>
              seen !== undefined &&
              seen.spot.parts.length > 1 &&
              textOfSpot(seen.spot, joint) === expected.trim(),
          ),
      ).length,
  );
  return JOINTS[hits.indexOf(Math.max(...hits))] ?? ', ';
}

/** Positions say less, the less a layout is like those that were learned from. */
const POSITION_SHARE_UNKNOWN = 0.25;

/** A learned model with the field and the document that it is asked for. */
export interface Question {
  readonly field: Field;
  readonly document: Prepared;
  readonly match: Match;
}

/**
 * Chooses a value. In a known layout any place may win, and "nothing stands there" too; elsewhere only the
 * rules' own choice, or a value beside a label that names the field in several examples.
 */
export function chooseLeaf(model: LeafModel, { field, document, match }: Question): Finding | undefined {
  const known = knownOnly(match);
  const rules = document.byRules(field);
  const options = optionsFor(field, document);
  const share = known === undefined ? POSITION_SHARE_UNKNOWN * match.similarity : 1;
  const judged = choicesOf(options, known)
    .map((choice, i) => ({ option: options[i], score: logit(model.weightAt, choice, share) }))
    .filter(({ option }) => known !== undefined || isSafe(option, model))
    .sort((a, b) => b.score - a.score);
  const [best] = judged;
  if (best?.option === undefined || best.score <= 0) return known === undefined ? rules : undefined;
  const { option, score } = best;
  if (option.byRules) return rules;
  const rival = judged.find((other) => other.option !== undefined && other.option.value !== option.value);
  return findingFor(option, { field, joint: model.joint, lead: score - Math.max(0, rival?.score ?? 0) });
}

const isSafe = (option: Option | undefined, { labels }: LeafModel): boolean =>
  option !== undefined && (option.byRules || (option.seen?.labels ?? []).some((label) => labels.has(label)));

interface Wanted {
  readonly field: Field;
  readonly joint: string;
  /** Logit over the next best. */
  readonly lead: number;
}

function findingFor({ value, seen }: Option, { field, joint, lead }: Wanted): Finding | undefined {
  if (seen === undefined) return undefined;
  const label = 1 / (1 + Math.exp(-lead));
  const evidence = { label, margin: 0.5 * label, agreement: 0 };
  const { typed, parts } = seen.spot;
  if (typed !== undefined) return findingOf(typed, evidence, value);
  const finding = textFinding(parts, { ...evidence, strictness: 0.5 });
  const text = readAs(field, textOfSpot(seen.spot, joint));
  return finding === undefined || text === undefined ? undefined : { ...finding, value: text };
}

/** Whether a text says all of some values, one after the other. */
export const saysAll = (text: string, values: readonly Json[]): boolean =>
  squeezed(text).includes(squeezed(values.map(String).join('')));
