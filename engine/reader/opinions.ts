import type { Word } from '../document/document.ts';
import type { Asked } from './asked.ts';
import { FEATURES, type Candidate } from './features.ts';
import { logistic } from './trees.ts';

/** What the scorer makes of a field: the value it likes best, and what its chance is told by. */
export interface Opinion {
  readonly field: number;
  readonly candidate: Candidate;
  /** See `SIGNALS`. */
  readonly signals: readonly number[];
}

/** What the chance of a chosen value is told by. */
export const SIGNALS = [
  'odds', 'oddsOfNext', 'lead', 'sum', 'candidates', 'times', 'string', 'number', 'date', 'choice', 'near.both',
  'any.both', 'near.lexicon', 'any.all', 'rank', 'rules.has', 'rules.same', 'rules.sure', 'rules.other', 'recognised',
] as const; // prettier-ignore

const FIRST = 60;
const TOP = 8;
/** A value that stands at several places is a little likelier. */
const AGAIN = 0.15;

/** A value that a field may have: how much the scorer likes it, 0..1, and at how many places it stands. */
export interface Choice {
  readonly candidate: Candidate;
  score: number;
  times: number;
}

/** The choices of each field, in the order of the fields, and the opinions that were served of them. */
export interface Judgement {
  readonly opinions: readonly Opinion[];
  readonly choices: readonly (readonly Choice[])[];
  /** The field that was served what stands at a choice's place. */
  readonly ownerOf: (choice: Choice) => number | undefined;
}

/** The values of a field, the likeliest first. */
function choicesOf(candidates: readonly Candidate[], scores: readonly number[]): readonly Choice[] {
  const order = scores.map((_, i) => i).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  const choices = new Map<string, Choice>();
  for (const i of order.slice(0, FIRST)) {
    const candidate = candidates[i];
    if (candidate === undefined) continue;
    const score = scores[i] ?? 0;
    const known = choices.get(candidate.key);
    if (known === undefined) choices.set(candidate.key, { candidate, score, times: 1 });
    else {
      known.times += 1;
      known.score = 1 - (1 - known.score) * (1 - AGAIN * score);
    }
  }
  return [...choices.values()].sort((a, b) => b.score - a.score).slice(0, TOP);
}

/** The best value for each field, so that no two fields have the same at the same place; the surest first. */
export function opinionsOf(
  asked: readonly Asked[],
  candidates: readonly (readonly Candidate[])[],
  odds: (row: Float32Array) => number,
): Judgement {
  const choices = candidates.map((all) =>
    choicesOf(
      all,
      all.map(({ row }) => logistic(odds(row))),
    ),
  );
  const wishes = choices.flatMap((all, field) => all.map((choice) => ({ field, choice })));
  wishes.sort((a, b) => b.choice.score - a.choice.score || a.field - b.field);
  const numbers = new Map<Word, number>();
  const [served, taken] = [new Map<number, Choice>(), new Map<string, number>()];
  for (const { field, choice } of wishes) {
    const place = placeOf(choice.candidate, numbers);
    if (served.has(field) || taken.has(place)) continue;
    served.set(field, choice);
    taken.set(place, field);
  }
  const opinions = [...served].map(([field, choice]) => ({
    field,
    candidate: choice.candidate,
    signals: signalsOf(choice, choices[field] ?? [], {
      form: asked[field]?.form ?? 'string',
      all: candidates[field]?.length ?? 1,
    }),
  }));
  return { opinions, choices, ownerOf: ({ candidate }) => taken.get(placeOf(candidate, numbers)) };
}

function placeOf({ span: { segment, from }, key }: Candidate, numbers: Map<Word, number>): string {
  const at = segment.starts.findLastIndex((start) => start <= from);
  const word = segment.words[Math.max(0, at)];
  if (word === undefined) return key;
  const number = numbers.get(word) ?? numbers.size;
  numbers.set(word, number);
  return `${number} ${key}`;
}

const SURE = 1e-4;
const logOdds = (chance: number): number => {
  const within = Math.min(1 - SURE, Math.max(SURE, chance));
  return Math.log(within / (1 - within));
};

const AT = new Map(FEATURES.map((name, i) => [name, i]));
const LOOKED_AT = ['near.both', 'any.both', 'near.lexicon', 'any.all'].map((name) => AT.get(name) ?? 0);
const RULES = ['rules.has', 'rules.same', 'rules.sure'].map((name) => AT.get(name) ?? 0);
const [RANK = 0, RECOGNISED = 0] = ['rank', 'recognised'].map((name) => AT.get(name) ?? 0);

const TOLD = ['any.both', 'any.lexicon', 'any.phrase'].map((name) => AT.get(name) ?? 0);

/** How well some label around a candidate says the field, 0..1. */
export function toldFor({ row }: Candidate): number {
  const [both = 0, lexicon = 0, phrase = 0] = TOLD.map((at) => row[at] ?? 0);
  return Math.max(both, 0.95 * lexicon, 0.85 * phrase);
}

function signalsOf(
  { candidate: { row }, score, times }: Choice,
  choices: readonly Choice[],
  { form, all }: { readonly form: Asked['form']; readonly all: number },
): readonly number[] {
  const others = choices.filter(({ candidate }) => candidate.row !== row).map((one) => one.score);
  const next = others.reduce((most, one) => Math.max(most, one), 0);
  const sum = others.reduce((total, one) => total + one, score);
  const [has = 0, same = 0, sure = 0] = RULES.map((at) => row[at] ?? 0);
  return [
    logOdds(score),
    logOdds(next),
    score - next,
    Math.log(sum + 1e-3),
    Math.log(all),
    Math.min(times, 5),
    ...(['string', 'number', 'date', 'choice'] as const).map((one) => Number(one === form)),
    ...LOOKED_AT.map((at) => row[at] ?? 0),
    Math.min(5, row[RANK] ?? 0),
    has,
    same,
    Math.max(0, sure),
    Math.max(0, -sure),
    row[RECOGNISED] ?? 0,
  ];
}
