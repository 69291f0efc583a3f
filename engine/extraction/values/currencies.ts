import type { Candidate } from '../candidates.ts';
import { contextScore } from '../contexts.ts';
import { judgedFor } from '../fields/labels.ts';
import type { Field } from '../fields/fields.ts';
import { findingOf, type Finding } from '../finding.ts';
import type { Source } from '../source.ts';

/** The labelled currency, else the one that the amounts have most often. */
export function findCurrency(field: Field, source: Source): Finding | undefined {
  const all = source.candidates.get('currency') ?? [];
  const counts = new Map<unknown, number>();
  for (const { value } of all) counts.set(value, (counts.get(value) ?? 0) + 1);
  const scoreOf = (candidate: Candidate): number => {
    const label = contextScore(candidate, source.layout, judgedFor(field, source.labels));
    return (label >= 0.75 ? label : 0) + (0.8 * (counts.get(candidate.value) ?? 0)) / all.length;
  };
  const scored = all.map((candidate) => ({ candidate, score: scoreOf(candidate) }));
  const best = scored.reduce<(typeof scored)[number] | undefined>(
    (most, one) => (most === undefined || one.score > most.score ? one : most),
    undefined,
  );
  return best === undefined
    ? undefined
    : findingOf(best.candidate, { label: Math.min(1, best.score), margin: 0.3, agreement: 0, kind: 'form' });
}
