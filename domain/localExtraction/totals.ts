import type { Field } from './fields.ts';
import { findingOf, type Finding } from './finding.ts';
import { CONCEPTS } from './lexicon.ts';
import { LABELLED, ranked, type Ranked } from './ranking.ts';
import type { Source } from './source.ts';

/** The three amounts that must agree: net + tax = gross. */
const TOTALS = ['net_total', 'tax_total', 'grand_total'] as const;
type Total = (typeof TOTALS)[number];
const CHOICES_MAX = 8;
const AGREES = 0.6;
/** Half a cent and what floating point adds. */
const TOLERANCE = 0.0051;

export const isTotal = (field: Field): boolean => TOTALS.some((id) => id === field.concept?.id);

interface Choice {
  readonly picks: Readonly<Record<Total, Ranked | undefined>>;
  readonly score: number;
  readonly agrees: boolean;
}

/**
 * The totals of a document, chosen together: the best labels, where three amounts that add up outweigh
 * single labels that do not. Only amounts that stand in the document are taken.
 */
export function findTotals(fields: readonly Field[], source: Source): ReadonlyMap<string, Finding> {
  const found = new Map<string, Finding>();
  const choice = bestChoice(source);
  for (const field of fields) {
    const id = TOTALS.find((total) => total === field.concept?.id);
    const picked = id === undefined ? undefined : choice.picks[id];
    if (picked === undefined) continue;
    const agreement = choice.agrees ? 1 : 0;
    found.set(field.pointer, findingOf(picked.candidate, { label: picked.score, margin: 0.2, agreement }));
  }
  return found;
}

function bestChoice(source: Source): Choice {
  const [nets = [], taxes = [], grosses = []] = TOTALS.map((id) => choicesFor(id, source));
  const none = { net_total: undefined, tax_total: undefined, grand_total: undefined };
  let best: Choice = { picks: none, score: 0, agrees: false };
  for (const net_total of nets) {
    for (const tax_total of taxes) {
      const choices = grosses.map((grand_total) => weighed({ net_total, tax_total, grand_total }));
      best = choices.reduce((most, choice) => (choice.score > most.score + 1e-9 ? choice : most), best);
    }
  }
  return best;
}

type Options = readonly (Ranked | undefined)[];

function choicesFor(id: Total, source: Source): Options {
  const concept = CONCEPTS.find((one) => one.id === id);
  const field: Field = {
    pointer: '',
    kind: 'number',
    type: 'number',
    withTime: false,
    choices: [],
    concept,
    phrases: [],
    about: [],
  };
  const money = ranked(field, source).filter(
    ({ candidate, score }) => score >= LABELLED && candidate.strictness >= 1,
  );
  const any = money.length > 0 ? money : ranked(field, source).filter(({ score }) => score >= LABELLED);
  return [undefined, ...preferLater(any).slice(0, CHOICES_MAX)];
}

/** Of nearly equal labels the later one wins: totals stand at the end. */
const preferLater = (choices: readonly Ranked[]): readonly Ranked[] =>
  choices
    .map((choice) => ({ ...choice, score: choice.score + placeBonus(choice) }))
    .sort((a, b) => b.score - a.score);

const placeBonus = ({ candidate }: Ranked): number => Math.min(0.05, candidate.segment.row * 0.0005);

function weighed(picks: Choice['picks']): Choice {
  const { net_total: net, tax_total: tax, grand_total: gross } = picks;
  const chosen = [net, tax, gross].filter((pick) => pick !== undefined);
  const distinct = new Set(chosen.map(({ candidate }) => candidate)).size === chosen.length;
  const labels = chosen.reduce((sum, { score }) => sum + score - 0.3, 0);
  if (!distinct) return { picks, score: labels - 2, agrees: false };
  const values = [net, tax, gross].map((pick) => pick?.candidate.value);
  const [n, t, g] = values;
  if (typeof n !== 'number' || typeof t !== 'number' || typeof g !== 'number')
    return { picks, score: labels - contradiction(values), agrees: false };
  const agrees = Math.abs(n + t - g) <= TOLERANCE;
  return { picks, score: labels + (agrees ? AGREES : -AGREES), agrees };
}

/** A net or a tax above the gross cannot be. */
function contradiction([net, tax, gross]: readonly unknown[]): number {
  if (typeof gross !== 'number' || gross < 0) return 0;
  const above = [net, tax].some((part) => typeof part === 'number' && part > gross + TOLERANCE);
  return above ? AGREES : 0;
}
