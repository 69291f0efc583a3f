import { ROW_IDS, type Concept } from './lexicon.ts';

/** Concepts that columns may have though they are no row's own. */
const ALSO_COLUMNS = new Set([
  'article_number',
  'tax_rate',
  'discount',
  'discount_rate',
  'reference',
  'serial_number',
  'order_number',
  'delivery_date',
  'tax_total',
]);

/** Concepts that rows of tables may ask for. */
export const isRowConcept = ({ id }: Concept): boolean => ROW_IDS.has(id) || ALSO_COLUMNS.has(id);
/** Concepts that only rows have. */
export const isOnlyRowConcept = ({ id }: Concept): boolean => ROW_IDS.has(id) && !ALSO_ALONE.has(id);
const ALSO_ALONE = new Set('weight volume packages hs_code size color balance article_number'.split(' '));
