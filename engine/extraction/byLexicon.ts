import { standIn, type Field } from './fields/fields.ts';
import type { Finding } from './finding.ts';
import { findAddress } from './parties/addresses.ts';
import { findParty } from './parties/parties.ts';
import { findInProse } from './prose/proseValues.ts';
import { pick } from './ranking.ts';
import type { Source } from './source.ts';
import { isTotal } from './tables/totals.ts';
import { findBoolean, findChoice, findText } from './texts.ts';
import { findCurrency } from './values/currencies.ts';

interface Known {
  readonly source: Source;
  /** Sums that agree, by the pointers of their fields. */
  readonly totals: ReadonlyMap<string, Finding>;
}

/** What the rules of the field's concept find; of a field that means none, what sentences of contracts say. */
export const byLexicon = (field: Field, { totals, source }: Known): Finding | undefined =>
  totals.get(field.pointer) ??
  findInProse(field, source) ??
  (field.concept === undefined ? byForm(field, source) : findLeaf(field, source));

/** Without a concept only a value's form, or a choice of the schema, is looked for. */
const byForm = (field: Field, source: Source): Finding | undefined =>
  FORMS.has(field.kind) || field.choices.length > 0 || field.type === 'boolean'
    ? findByKind(field, source)
    : undefined;

const FORMS: ReadonlySet<Field['kind']> = new Set<Field['kind']>([
  'email',
  'url',
  'iban',
  'bic',
  'vat_id',
  'currency',
]);

function findLeaf(field: Field, source: Source): Finding | undefined {
  const found = findByKind(field, source);
  const other = found === undefined ? standIn(field) : undefined;
  return other === undefined ? found : findByKind(other, source);
}

function findByKind(field: Field, source: Source): Finding | undefined {
  if (isTotal(field)) return undefined;
  if (field.choices.length > 0) return findChoice(field, source);
  switch (field.kind) {
    case 'boolean':
      return findBoolean(field, source);
    case 'party':
      return findParty(field, source) ?? (isRoleParty(field) ? undefined : findText(field, source));
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

/** Seller, buyer and the like stand in sections; other persons and firms have a label of their own. */
const isRoleParty = ({ concept }: Field): boolean => concept?.id === 'seller' || concept?.id === 'buyer';
