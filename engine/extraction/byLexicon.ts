import { standIn, type Field } from './fields/fields.ts';
import { type Finding, findingOf, signed, type Signed } from './finding.ts';
import type { Generator } from '../ports/why.ts';
import { findAddress } from './parties/addresses.ts';
import { findParty } from './parties/parties.ts';
import { findInProse } from './prose/proseValues.ts';
import { pick, contextScore } from './ranking.ts';
import type { Source } from './source.ts';
import { isTotal } from './singles/totals.ts';
import { findText } from './texts.ts';
import type { Candidate } from './candidates.ts';
import { judgedFor } from './words/says.ts';

interface Known {
  readonly source: Source;
  /** Sums that agree, by the pointers of their fields. */
  readonly totals: ReadonlyMap<string, Finding>;
}

/** What sums that agree, sentences of contracts, and the rules of the field's concept find. */
export const byLexicon = (field: Field, { totals, source }: Known): Signed | undefined =>
  signed('sums', source, () => totals.get(field.pointer)) ??
  signed('clauses', source, () => findInProse(field, source)) ??
  (field.concept === undefined ? undefined : findLeaf(field, source));

function findLeaf(field: Field, source: Source): Signed | undefined {
  const found = findByKind(field, source);
  const other = found === undefined ? standIn(field) : undefined;
  return other === undefined ? found : findByKind(other, source);
}

const findByKind = (field: Field, source: Source): Signed | undefined =>
  isTotal(field) || field.choices.length > 0
    ? undefined
    : signed(BY_KIND[field.kind] ?? 'concepts', source, () => kindFinding(field, source));

const BY_KIND: Readonly<Partial<Record<Field['kind'], Generator>>> = {
  party: 'parties',
  address: 'addresses',
};

function kindFinding(field: Field, source: Source): Finding | undefined {
  switch (field.kind) {
    case 'boolean':
      return undefined;
    case 'party':
      return findParty(field, source);
    case 'address':
      return findAddress(field, source);
    case 'currency':
      return findCurrency(field, source);
    case 'text':
      return findText(field, source);
    default:
      return pick(field, source);
  }
}

/** The labelled currency, else the one that the amounts have most often. */
function findCurrency(field: Field, source: Source): Finding | undefined {
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
