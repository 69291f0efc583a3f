import type { Candidate } from '../candidates.ts';
import type { Field } from '../fields/fields.ts';
import { findingOf, type Finding } from '../finding.ts';
import { conceptNamed } from '../words/concepts.ts';
import { NO_TERMS } from '../fields/terms.ts';
import { LABELLED, ranked, type Ranked } from '../ranking.ts';
import type { Source } from '../source.ts';
import { NO_WANTS } from '../fields/wants.ts';

/** The three amounts that must agree: net + tax = gross. */
const TOTALS = ['net_total', 'tax_total', 'grand_total'] as const;
type Total = (typeof TOTALS)[number];
const CHOICES_MAX = 8;
const AGREES = 0.6;
/** The gross is what was given less the change. */
const PAID = 0.4;
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
  if (fields.length === 0) return found;
  const paid = paidOf(source);
  const choice = roundedOff(bestChoice(source, paid), source, paid);
  for (const field of fields) {
    const id = TOTALS.find((total) => total === field.concept?.id);
    const picked = id === undefined ? undefined : choice.picks[id];
    if (picked === undefined) continue;
    const agreement = choice.agrees ? 1 : 0;
    found.set(
      field.pointer,
      findingOf(picked.candidate, {
        label: picked.score,
        margin: 0.2,
        agreement,
        kind: choice.agrees ? 'sum' : picked.kind,
      }),
    );
  }
  return found;
}

/** What was given less what came back. */
function paidOf(source: Source): number | undefined {
  const [paid, change] = [amountOf('paid_amount', source), amountOf('change', source)];
  return paid === undefined || change === undefined ? undefined : cents(paid - change);
}

const cents = (amount: number): number => Math.round(100 * amount) / 100;

/** The amount that the best label of a concept says. */
function amountOf(id: string, source: Source): number | undefined {
  const [best] = choicesFor(id, source).filter((one) => one !== undefined);
  return typeof best?.candidate.value === 'number' ? best.candidate.value : undefined;
}

/** What coins cannot pay is rounded off: so much at most. */
const ROUNDED_MAX = 0.05;

/**
 * The gross as it is to be paid, where that differs by what was rounded off and stands in the document too: "Total
 * 60.31, rounding -0.01, 60.30", or "Total 60.31, cash 70.30, change 10.00" and 60.30 somewhere.
 */
function roundedOff(choice: Choice, source: Source, paid: number | undefined): Choice {
  const { grand_total } = choice.picks;
  const gross = grand_total?.candidate.value;
  if (grand_total === undefined || typeof gross !== 'number') return choice;
  const off = amountOf('rounding', source) ?? 0;
  const isOff = (amount: number): boolean =>
    Math.abs(amount - gross) > TOLERANCE && Math.abs(amount - gross) <= ROUNDED_MAX + TOLERANCE;
  const stands = (source.candidates.get('number') ?? []).findLast(
    ({ value }) =>
      typeof value === 'number' && isOff(value) && (value === paid || value === cents(gross + off)),
  );
  if (stands === undefined) return choice;
  const rounded = { ...grand_total, candidate: stands, kind: 'sum' } as const;
  return { ...choice, picks: { ...choice.picks, grand_total: rounded } };
}

function bestChoice(source: Source, paid: number | undefined): Choice {
  const [nets = [], taxes = [], grosses = []] = TOTALS.map((id) => choicesFor(id, source));
  const none = { net_total: undefined, tax_total: undefined, grand_total: undefined };
  let best: Choice = { picks: none, score: 0, agrees: false };
  for (const net_total of nets) {
    for (const tax_total of taxes) {
      const choices = grosses.map((grand_total) => weighed({ net_total, tax_total, grand_total }, paid));
      best = choices.reduce((most, choice) => (choice.score > most.score + 1e-9 ? choice : most), best);
    }
  }
  return best;
}

type Options = readonly (Ranked | undefined)[];

function choicesFor(id: string, source: Source): Options {
  const labelled = labelledAs(id, source);
  const due = id === 'grand_total' ? labelledAs('amount_due', source) : [];
  const others = due
    .filter(({ candidate }) => labelled.every((one) => one.candidate !== candidate))
    .map((one) => ({ ...one, score: one.score * DUE_AS_TOTAL }));
  const all = [...labelled, ...others];
  const whole = id === 'grand_total' ? all.filter(({ candidate }) => !isOfRate(candidate, source)) : all;
  return [undefined, ...preferLater(whole.length > 0 ? whole : all).slice(0, CHOICES_MAX)];
}

/** "Total 6 % supplies incl. tax": what was sold at one rate is not all that was sold. */
function isOfRate({ segment, from }: Candidate, { layout: { rows } }: Source): boolean {
  const own = rows[segment.row]?.segments ?? [];
  const before = own.slice(0, Math.max(0, own.indexOf(segment))).map(({ text }) => text);
  return /\d\s?%/.test([...before, segment.text.slice(0, from)].join(' '));
}

/** What is due is the total where nothing was paid. */
const DUE_AS_TOTAL = 0.85;

function labelledAs(id: string, source: Source): readonly Ranked[] {
  const field: Field = {
    pointer: '',
    kind: 'number',
    type: 'number',
    withTime: false,
    choices: [],
    concept: conceptNamed(id),
    role: undefined,
    inRow: false,
    phrases: [],
    about: [],
    terms: NO_TERMS,
    wants: NO_WANTS,
  };
  const labelled = ranked(field, source).filter(
    ({ score, candidate }) => score >= LABELLED && !isMeasured(candidate),
  );
  const money = labelled.filter(({ candidate }) => candidate.strictness >= 1);
  return money.length > 0 || hasDecimals(source) ? money : labelled;
}

const MEASURE = /^\s?(?:kg|km|kwh|kw|mm|cm|m²|m2|m³|m3|lbs?|ml|ha|cbm|°c)(?![\p{L}\p{N}])/iu;

/** A number in a unit of measure is no amount of money: "Total gross weight 6.05 kg". */
const isMeasured = ({ segment, to }: Candidate): boolean => MEASURE.test(segment.text.slice(to));

/** Where amounts are written with decimals, a number without them is none. */
const hasDecimals = ({ candidates }: Source): boolean =>
  (candidates.get('number') ?? []).filter(({ text }) => /\d[.,]\d{2}\D*$/.test(text)).length >= 3;

/** Of nearly equal labels the later one wins: totals stand at the end. */
const preferLater = (choices: readonly Ranked[]): readonly Ranked[] =>
  choices
    .map((choice) => ({ ...choice, score: choice.score + placeBonus(choice) }))
    .sort((a, b) => b.score - a.score);

const placeBonus = ({ candidate }: Ranked): number => Math.min(0.05, candidate.segment.row * 0.0005);

function weighed(picks: Choice['picks'], paid: number | undefined): Choice {
  const { net_total: net, tax_total: tax, grand_total: gross } = picks;
  const chosen = [net, tax, gross].filter((pick) => pick !== undefined);
  const distinct = new Set(chosen.map(({ candidate }) => candidate)).size === chosen.length;
  const labels = chosen.reduce(
    (sum, { score }) => sum + score - 0.3,
    paidShare(gross?.candidate.value, paid),
  );
  if (!distinct) return { picks, score: labels - 2, agrees: false };
  const values = [net, tax, gross].map((pick) => pick?.candidate.value);
  const [n, t, g] = values;
  if (typeof n !== 'number' || typeof t !== 'number' || typeof g !== 'number')
    return { picks, score: labels - contradiction(values), agrees: false };
  const agrees = Math.abs(n + t - g) <= TOLERANCE;
  return { picks, score: labels + (agrees ? AGREES : -AGREES), agrees };
}

/** What was paid for speaks for its amount, and against nothing at all. */
function paidShare(gross: unknown, paid: number | undefined): number {
  if (paid === undefined || paid <= 0) return 0;
  return gross === paid ? PAID : gross === 0 ? -AGREES : 0;
}

/** A net or a tax above the gross cannot be. */
function contradiction([net, tax, gross]: readonly unknown[]): number {
  if (typeof gross !== 'number' || gross < 0) return 0;
  const above = [net, tax].some((part) => typeof part === 'number' && part > gross + TOLERANCE);
  return above ? AGREES : 0;
}
