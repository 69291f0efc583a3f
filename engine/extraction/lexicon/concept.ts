/** What kind of value a concept has. */
export type ValueKind =
  | 'date' | 'number' | 'integer' | 'percent' | 'currency' | 'id' | 'iban' | 'bic' | 'vat_id' | 'email' | 'phone' | 'url'
  | 'party' | 'address' | 'text' | 'boolean'; // prettier-ignore

/**
 * An idea with its names: id, kind, then the phrases of English, German, French, Spanish, Italian, Dutch and
 * Portuguese, parted by `|`. Case and diacritics do not count.
 */
export type ConceptRow = readonly [id: string, kind: ValueKind, ...phrases: string[]];
