/**
 * How a value was won: after a colon in its own text; in the cell right of its label, right of a label that
 * shows itself as one (colon, other letters, one of a column of labels), right of any text; below a label, the
 * same two; where a row and a column of a table cross; right after the label's words without a mark; before
 * them, as counts stand; in a sentence that has them; by a ticked box; as one of the schema's options that
 * stands alone; by sums that agree; by its form alone; by its place on the page; in the head of the document,
 * below a closing formula; an end of a range.
 */
export const EVIDENCE_KINDS = [
  'colon',
  'cell',
  'right',
  'beside',
  'below',
  'under',
  'cross',
  'inline',
  'count',
  'prose',
  'box',
  'option',
  'sum',
  'form',
  'place',
  'head',
  'closing',
  'end',
] as const;

export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];
