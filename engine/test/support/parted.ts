import type { Grounded } from '../../extraction/grounding/grounding.ts';
import type { ValueCitation } from '../../ports/extractionEngine.ts';

/** Values with a place, and the pointers of those that stand nowhere. */
export const parted = (grounded: Grounded) => ({
  citations: grounded.filter((one): one is Extract<ValueCitation, { page: number }> => one.page !== null),
  ungrounded: grounded.filter(({ grounding }) => grounding === 'none').map(({ path }) => path),
});
