import type { Json } from '../../kernel/json.ts';
import type { Field } from '../../extraction/fields/fields.ts';
import { findingOf, textFinding, type Finding, type Signed } from '../../extraction/finding.ts';
import { isEmpty, squeezed } from '../scoring/agreement.ts';
import { optionsOf, readAs, type Option } from '../options.ts';
import type { Prepared } from '../prepared.ts';
import { logit, regression, type Case, type Choice } from './regression.ts';
import { featureOf } from './hashing.ts';
import { rightOptions } from './rightOptions.ts';
import { textOfSpot } from './spots.ts';
import { KNOWN_FROM, type Match } from './templates.ts';
import { trustIn, type Signals, type Trust } from './trust.ts';
import { remembered, once } from '../../kernel/once.ts';

const JOINTS = [', ', ' ', '\n'] as const;
type Joint = (typeof JOINTS)[number];

/** What was learned of one leaf. */
export interface LeafModel {
  readonly weights: Float64Array;
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
const optionsIn = once((_: Prepared) => new Map<string, readonly Option[]>());

/** The options of a field, remembered. */
export const optionsFor = (field: Field, document: Prepared): readonly Option[] =>
  remembered(optionsIn(document), field.pointer, () => optionsOf(field, document));

const NOWHERE = { general: [], position: [] };

/** How sure the rules are, in steps: where they doubt, another choice needs less to win. */
const SURETY_STEPS = 5;
const suretyFeature = (surety: number): number =>
  featureOf(`rules=${String(Math.min(SURETY_STEPS - 1, Math.floor(SURETY_STEPS * surety)))}`);

function choicesOf(options: readonly Option[], match: Match | undefined): readonly Choice[] {
  return options.map(({ seen, byRules, surety, labelScore, liking, sights }) => {
    const { general: own, position } = seen?.features ?? NOWHERE;
    const general = [...own, ...sights];
    const anchors = seen === undefined ? [] : (match?.anchorsOf(seen) ?? []);
    return byRules
      ? { general, position, anchors: [...anchors, suretyFeature(surety)], byRules, labelScore, liking }
      : { general, position, anchors, byRules, labelScore, liking };
  });
}

/** The match as far as it counts: below the threshold a layout is unknown. */
const knownOnly = (match: Match): Match | undefined => (match.similarity >= KNOWN_FROM ? match : undefined);

/** Learns a leaf; undefined where no example says its value at a place that can be found. */
export function learnLeaf(lessons: readonly Lesson[], seed: number): LeafModel | undefined {
  const cases = lessons.flatMap(({ options, expected, match }): readonly Case[] => {
    const right = rightOptions(options, expected);
    return right.length > 0 || isAbsent(expected, options)
      ? [{ choices: choicesOf(options, knownOnly(match)), right }]
      : [];
  });
  if (cases.every(({ right }) => right.length === 0)) return undefined;
  return { weights: regression(cases, seed), labels: labelsOf(lessons), joint: jointOf(lessons) };
}

/**
 * Whether an example says that the document does not have the value: by null, or by leaving out what the rules
 * do not find either. What is left out and found may be an oversight.
 */
export const isAbsent = (expected: Json | undefined, options: readonly Option[]): boolean =>
  expected === undefined ? !options.some(({ byRules }) => byRules) : isEmpty(expected);

/** A label counts when it was right in so many documents, and in such a share of those that have it. */
const DOCUMENTS_MIN = 2;
const RIGHT_SHARE = 0.8;
const LABELS_MAX = 12;

const namesIn = once(
  (options: readonly Option[]): ReadonlySet<string> =>
    new Set(options.flatMap(({ seen }) => seen?.labels ?? [])),
);

function labelsOf(lessons: readonly Lesson[]): ReadonlySet<string> {
  const counts = new Map<string, { right: number; all: number }>();
  for (const { options, expected } of lessons) {
    const labels = namesIn(options);
    const right = namesIn(rightOptions(options, expected).flatMap((i) => options[i] ?? []));
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

/** What a model makes of a document: the option it likes best, and how sure it may be. */
export interface Opinion {
  readonly best: Option;
  readonly signals: Signals;
}

/** The best option of a field; undefined where a document has none. */
export function opinionOf(model: LeafModel, { field, document, match }: Question): Opinion | undefined {
  const known = knownOnly(match);
  const options = optionsFor(field, document);
  const share = known === undefined ? POSITION_SHARE_UNKNOWN * match.similarity : 1;
  const scores = choicesOf(options, known).map((choice) => logit(model.weights, choice, share));
  const most = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const best = options[scores.indexOf(most)];
  if (best === undefined) return undefined;
  const rival = options.reduce(
    (next, { value }, i) => (value === best.value ? next : Math.max(next, scores[i] ?? next)),
    Number.NEGATIVE_INFINITY,
  );
  const isLabelKnown = (best.seen?.labels ?? []).some((label) => model.labels.has(label));
  return {
    best,
    signals: { score: most, lead: most - rival, isLabelKnown, isLayoutKnown: known !== undefined },
  };
}

/** From which chance on an opinion is followed, and how chances are told. */
export interface Following {
  readonly from: number;
  /** Nothing is said where the model finds that nothing stands there. */
  readonly mayRefuse: boolean;
  readonly trust: Trust;
}

/** Logit below which "nothing stands there" is sure enough to take a value of the rules away. */
const REFUSED_BELOW = -2;

/** The value that a model finds where it may be followed, else that of the rules. */
export function chooseLeaf(
  model: LeafModel,
  question: Question,
  { from, mayRefuse, trust }: Following,
): Signed | undefined {
  const { field, document } = question;
  const rules = document.byRules(field);
  const opinion = opinionOf(model, question);
  if (opinion === undefined) return rules;
  const { best, signals } = opinion;
  if (isRefused(opinion)) return mayRefuse ? undefined : rules;
  const chance = trustIn(trust, signals);
  if (best.byRules || chance < from) return rules;
  const found = findingFor(best, { field, joint: model.joint, chance });
  return found === undefined ? rules : { ...found, by: 'examples' };
}

/** Whether a model is sure that nothing stands there; only a layout that it knows can tell it. */
export const isRefused = ({ signals: { score, isLayoutKnown } }: Opinion): boolean =>
  isLayoutKnown && score < REFUSED_BELOW;

interface Wanted {
  readonly field: Field;
  readonly joint: string;
  readonly chance: number;
}

function findingFor({ value, seen }: Option, { field, joint, chance }: Wanted): Finding | undefined {
  if (seen === undefined) return undefined;
  const evidence = { label: chance, margin: 0.5 * chance, agreement: 0 };
  const { typed, parts } = seen.spot;
  if (typed !== undefined) return withChance(findingOf(typed, evidence, value), chance);
  const finding = textFinding(parts, { ...evidence, strictness: 0.5 });
  const text = readAs(field, textOfSpot(seen.spot, joint));
  return finding === undefined || text === undefined
    ? undefined
    : withChance({ ...finding, value: text }, chance);
}

/** The chance was measured on documents left out, recognised ones among them: nothing is to be added. */
const withChance = (finding: Finding, chance: number): Finding => ({
  ...finding,
  confidence: Math.round(1_000 * chance) / 1_000,
});

/** Whether a text says all of some values, one after the other. */
export const saysAll = (text: string, values: readonly Json[]): boolean =>
  squeezed(text).includes(squeezed(values.map(String).join('')));
