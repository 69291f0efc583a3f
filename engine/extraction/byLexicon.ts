import { standIn, type Field } from './fields/fields.ts';
import type { Finding } from './finding.ts';
import { findAddress } from './parties/addresses.ts';
import { findParty } from './parties/parties.ts';
import { findInProse } from './prose/proseValues.ts';
import { pick } from './ranking.ts';
import type { Source } from './source.ts';
import { isTotal } from './tables/totals.ts';
import { findText } from './texts.ts';
import { findCurrency } from './values/currencies.ts';

interface Known {
  readonly source: Source;
  /** Sums that agree, by the pointers of their fields. */
  readonly totals: ReadonlyMap<string, Finding>;
}

/** What sums that agree, sentences of contracts, and the rules of the field's concept find. */
export const byLexicon = (field: Field, { totals, source }: Known): Finding | undefined =>
  totals.get(field.pointer) ??
  findInProse(field, source) ??
  (field.concept === undefined ? undefined : findLeaf(field, source));

function findLeaf(field: Field, source: Source): Finding | undefined {
  const found = findByKind(field, source);
  const other = found === undefined ? standIn(field) : undefined;
  return other === undefined ? found : findByKind(other, source);
}

function findByKind(field: Field, source: Source): Finding | undefined {
  if (isTotal(field) || field.choices.length > 0) return undefined;
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
