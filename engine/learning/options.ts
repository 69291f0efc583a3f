import type { Json } from '../kernel/json.ts';
import { contextScore } from '../extraction/ranking.ts';
import { coerced } from '../extraction/fields/coerced.ts';
import type { Field } from '../extraction/fields/fields.ts';
import type { Finding } from '../extraction/finding.ts';
import { judgedFor } from '../extraction/words/says.ts';
import type { ValueKind } from '../extraction/words/concepts.ts';
import { wordsIn } from '../extraction/places/layout.ts';
import { choiceIn, tickedOption, yesOrNo } from '../extraction/texts.ts';
import type { Prepared, Seen } from './prepared.ts';
import { textOfSpot } from './weights/spots.ts';
import { sightsOf, UNSEEN } from '../reader/sights.ts';
import { sightOf } from './weights/hashing.ts';

/** A value that a field may take, and where it stands. */
export interface Option {
  readonly value: Json;
  /** undefined: found by the rules at no single place. */
  readonly seen: Seen | undefined;
  /** The rules would take it. */
  readonly byRules: boolean;
  /** How sure the rules are of it, 0..1; 0 where they would not take it. */
  readonly surety: number;
  /** 0..1: how well its label names the field, as the rules judge. */
  readonly labelScore: number;
  /** 0..1: how the shipped scorer likes it. */
  readonly liking: number;
  /** Places of the weights of what the scorer sees. */
  readonly sights: readonly number[];
}

/** Values that are not written as they are told: days and currencies have their own readers. */
const READ_BY_KIND: ReadonlySet<ValueKind> = new Set(['date', 'currency']);

/** How lines of one value are joined where values are compared. */
const JOINT = ', ';

/** Of a value of which nothing is known. */
const UNJUDGED = { byRules: false, surety: 0, labelScore: 0, liking: UNSEEN.liking, sights: [] };

/** All values that a field may take in a document, in reading order; the one that the rules take is marked. */
export function optionsOf(field: Field, document: Prepared): readonly Option[] {
  const rules = document.byRules(field);
  const sightAt = sightsOf(field, document.reading.singles());
  const options = [...typedOptions(field, document), ...textOptions(field, document)].map((one): Option => {
    const [{ segment, from }, ...below] = one.seen.spot.parts;
    const { liking, seen } = sightAt({ segment, from, below: below.length, value: one.value });
    const option = { ...UNJUDGED, ...one, liking, sights: seen.map(sightOf) };
    return rules !== undefined && isAt(option, field, rules)
      ? { ...option, byRules: true, surety: rules.confidence }
      : option;
  });
  const value = rules === undefined ? undefined : coerced(field, rules.value);
  if (rules === undefined || value === undefined || options.some(({ byRules }) => byRules)) return options;
  return [{ ...UNJUDGED, value, seen: undefined, byRules: true, surety: rules.confidence }, ...options];
}

function kindsOf({ kind, type, choices }: Field): readonly ValueKind[] {
  if (type === 'boolean') return [];
  if (type !== 'string') return kind === 'percent' ? ['percent', 'number'] : ['number', 'percent'];
  if (choices.length > 0) return ['currency'];
  return kind === 'text' || kind === 'party' || kind === 'address' ? [] : [kind];
}

/** A value at its place. */
type Placed = Pick<Option, 'value'> & { readonly seen: Seen; readonly labelScore?: number };

function typedOptions(field: Field, document: Prepared): readonly Placed[] {
  const { layout, labels } = document.reading.source;
  const judged = judgedFor(field, labels);
  return document.typed(kindsOf(field)).flatMap((seen): readonly Placed[] => {
    const { typed } = seen.spot;
    const value = typed === undefined ? undefined : coerced(field, typed.value);
    if (typed === undefined || value === undefined || !isAllowed(field, value)) return [];
    return [{ value, seen, labelScore: contextScore(typed, layout, judged) }];
  });
}

const isAllowed = ({ choices }: Field, value: Json): boolean =>
  choices.length === 0 || (typeof value === 'string' && choices.includes(value));

function textOptions(field: Field, document: Prepared): readonly Placed[] {
  if (field.type === 'number' || field.type === 'integer') return [];
  if (READ_BY_KIND.has(field.kind)) return [];
  return document.texts().flatMap((seen): readonly Placed[] => {
    const value = readAs(field, textOfSpot(seen.spot, JOINT));
    return value === undefined ? [] : [{ value, seen }];
  });
}

/** A text as the field's value: yes or no, one of its choices, or itself. */
export function readAs(field: Field, text: string): Json | undefined {
  if (field.type === 'boolean') return text.length > 80 ? undefined : yesOrNo(text);
  if (field.choices.length === 0) return text === '' ? undefined : text;
  return text.length > 80 ? undefined : choiceIn(field, tickedOption(text) ?? text);
}

/** Whether an option is what the rules found: the same value, from the same first word. */
function isAt({ value, seen }: Option, field: Field, rules: Finding): boolean {
  if (seen === undefined || coerced(field, rules.value) !== value) return false;
  const [{ segment, from, to }] = seen.spot.parts;
  return wordsIn(segment, from, to)[0] === rules.words[0];
}
