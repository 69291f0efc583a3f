import type { Candidate } from './candidates.ts';
import type { EvidenceKind } from './evidence.ts';
import { contextOf, type Context } from './contexts.ts';
import { judgedFor } from './fields/labels.ts';
import type { Field } from './fields/fields.ts';
import { findingOf, type Finding } from './finding.ts';
import type { ValueKind } from './fields/lexicon.ts';
import { partyAt } from './parties/partyTitles.ts';
import type { Source } from './source.ts';
import { digitsAround } from './values/numbers.ts';

export interface Ranked {
  readonly candidate: Candidate;
  readonly score: number;
  readonly kind: EvidenceKind;
}

/** Below this a label is no label. */
export const LABELLED = 0.55;

/** Kinds that some value of may be taken without any label, and how much its form alone is worth. */
const UNLABELLED: Readonly<Partial<Record<ValueKind, number>>> = {
  iban: 0.6,
  vat_id: 0.45,
  email: 0.5,
  url: 0.4,
  bic: 0.3,
};

/** The candidates for a field, the best first; of equals the first in the document. */
export function ranked(field: Field, source: Source): readonly Ranked[] {
  const kinds: readonly ValueKind[] = field.kind === 'percent' ? ['percent', 'number'] : kindsFor(field);
  return kinds
    .flatMap((kind) => source.candidates.get(kind) ?? [])
    .map((candidate) => ({ candidate, ...scoreOf(field, candidate, source) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.candidate.segment.index - b.candidate.segment.index);
}

const kindsFor = ({ kind, concept }: Field): readonly ValueKind[] => {
  if (kind === 'number') return concept?.kind === 'percent' ? ['percent', 'number'] : ['number'];
  return kind === 'integer' ? ['number'] : [kind];
};

function scoreOf(field: Field, candidate: Candidate, source: Source): Context {
  const label = contextOf(candidate, source.layout, judgedFor(field, source.labels));
  const unlabelled = UNLABELLED[field.kind] ?? 0;
  const base = Math.max(label.score, unlabelled);
  const score = base * (0.8 + 0.2 * candidate.strictness) * partyFactor(field, candidate, source);
  return { score, kind: label.score >= unlabelled ? label.kind : 'form' };
}

/** Kinds of values that every party has. */
const OF_PARTIES: ReadonlySet<ValueKind> = new Set(['vat_id', 'email', 'phone', 'url', 'iban']);

/** A seller's field is not taken from the buyer's section, nor the other way round. */
function partyFactor({ kind, concept, role }: Field, { segment }: Candidate, source: Source): number {
  if (!OF_PARTIES.has(kind)) return 1;
  const section = partyAt(segment, source);
  const wanted = concept?.id === 'buyer_vat_id' ? 'buyer' : role;
  if (wanted === undefined || wanted === 'payee') return section === 'buyer' ? 0.8 : 1;
  return section === wanted ? 1 : elsewhere(section, wanted);
}

/** Outside of every section stands the seller's, as a rule. */
const elsewhere = (section: string | undefined, wanted: string): number =>
  section === 'buyer' || section === 'seller' || wanted === 'buyer' ? 0.5 : 0.9;

/** The best candidate as a finding, when its label or form is good enough. */
export function pick(field: Field, source: Source): Finding | undefined {
  return (
    pickLabelled(field, source) ?? (field.concept?.id === 'invoice_date' ? firstDate(source) : undefined)
  );
}

/** The date of a document that has no label: its only one, or the first of its head. */
function firstDate(source: Source): Finding | undefined {
  const dates = (source.candidates.get('date') ?? []).filter(({ strictness }) => strictness === 1);
  const [first] = dates;
  if (first === undefined) return undefined;
  const days = new Set(dates.map(({ value }) => value)).size;
  const height = source.layout.segments.reduce((most, { y1 }) => Math.max(most, y1), 0);
  if (days > 1 && first.segment.y0 > 0.4 * height) return undefined;
  if (!isBareDate(first)) return undefined;
  return findingOf(first, { label: days === 1 ? 0.6 : 0.4, margin: 0, agreement: 0, kind: 'form' });
}

/** Little else stands on its line: a date in a sentence is about something else. */
const isBareDate = ({ segment, text }: Candidate): boolean =>
  segment.text
    .replace(text, '')
    .replace(/\d{1,2}:\d{2}(?::\d{2})?/, '')
    .replace(/[^\p{L}]/gu, '').length <= 16;

/** A number that is a part of more digits is none: all of them are what stands there, as text. */
function wholeDigits(candidate: Candidate): Candidate {
  const run = candidate.kind === 'number' ? digitsAround(candidate.segment.text, candidate) : undefined;
  return run === undefined ? candidate : { ...candidate, ...run, value: run.text };
}

function pickLabelled(field: Field, source: Source): Finding | undefined {
  const [best, next] = ranked(field, source);
  const least = UNLABELLED[field.kind] === undefined ? LABELLED : 0.35;
  if (best === undefined || best.score < least) return undefined;
  const rival = next !== undefined && next.candidate.value !== best.candidate.value ? next.score : 0;
  return findingOf(wholeDigits(best.candidate), {
    label: best.score,
    margin: best.score - rival,
    agreement: 0,
    kind: best.kind,
  });
}
