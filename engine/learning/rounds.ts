import type { Json } from '../kernel/json.ts';
import { hashOf } from './weights/hashing.ts';
import type { Prepared } from './prepared.ts';
import { optionsFor, type Following } from './weights/leafModel.ts';
import { asRead } from './weights/rightOptions.ts';
import { learn, valueByLearned, valueByRules, valueIn, type Learned, type Target } from './targets.ts';
import {
  KNOWN_FROM,
  layoutGroups,
  matched,
  templatesOf,
  type Match,
  type Template,
} from './weights/templates.ts';

/** An example made ready, with what the rules say of each target. */
export interface Example {
  readonly document: Prepared;
  readonly expected: Json;
  /** By pointer. */
  readonly byRules: ReadonlyMap<string, Json | undefined>;
  /** What is expected of each target as the page has it, by pointer. */
  readonly asRead: ReadonlyMap<string, Json | undefined>;
}

export const exampleOf = (document: Prepared, expected: Json, targets: readonly Target[]): Example => ({
  document,
  expected,
  byRules: new Map(targets.map((target) => [target.pointer, valueByRules(target, document)])),
  asRead: new Map(
    targets.map(({ pointer, node }) => {
      const wanted = valueIn(expected, pointer);
      return [pointer, node.kind === 'leaf' ? asRead(optionsFor(node.field, document), wanted) : wanted];
    }),
  ),
});

/** What was learned from some examples: their layouts, and each target by its pointer. */
export interface Model {
  readonly templates: readonly Template[];
  readonly learned: ReadonlyMap<string, Learned>;
}

export const layoutsOf = (examples: readonly Example[]): readonly number[] =>
  layoutGroups(examples.map(({ document }) => document.sightings));

/** Learns targets one by one; yields after each, so that who drives it may stop. */
export function* fit(
  examples: readonly Example[],
  targets: readonly Target[],
  seed: number,
): Generator<void, Model> {
  const sightings = examples.map(({ document }) => document.sightings);
  const templates = templatesOf(sightings, layoutGroups(sightings));
  const matches = sightings.map((one) => matched(templates, one));
  const learned = new Map<string, Learned>();
  for (const target of targets) {
    const lessons = examples.flatMap(({ document, expected }, i) => {
      const match = matches[i];
      return match === undefined ? [] : [{ document, match, expected: valueIn(expected, target.pointer) }];
    });
    const result = learn(target, lessons, seed ^ hashOf(target.pointer));
    if (result !== undefined) learned.set(target.pointer, result);
    yield;
  }
  return { templates, learned };
}

/** Whether a layout counts as known. */
export const isKnown = ({ similarity }: Match): boolean => similarity >= KNOWN_FROM;

/** A match that does not count as known: for scoring what is said of layouts that nobody learned from. */
export const asUnknown = (match: Match): Match => ({
  ...match,
  similarity: Math.min(match.similarity, KNOWN_FROM - 0.01),
});

/** What a model says of a target as far as it may be followed; without anything learned what the rules say. */
export function said(
  { learned }: Model,
  target: Target,
  example: Pick<Example, 'document' | 'byRules'> & { readonly match: Match; readonly following: Following },
): Json | undefined {
  const one = learned.get(target.pointer);
  return one === undefined ? example.byRules.get(target.pointer) : valueByLearned(one, target, example);
}
