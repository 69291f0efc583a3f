/** Rows of one block that match a filter, and between which ordinals they lie. */
export interface MatchingBlock {
  readonly rows: number;
  readonly first_ordinal: number;
  readonly last_ordinal: number;
}

/** Which rows to read for a page: blocks newest first, and how many of their newest rows to pass over. */
export interface PagePlan {
  readonly skip: number;
  readonly blocks: readonly MatchingBlock[];
}

/**
 * The blocks that hold the rows `offset` to `offset + limit`, newest first. What lies before them is
 * counted, not read: `skip` is less than the rows of the first of them.
 */
export const pagePlan = (
  newestFirst: readonly MatchingBlock[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): PagePlan => {
  const blocks: MatchingBlock[] = [];
  let before = 0;
  let skip = 0;
  for (const block of newestFirst) {
    if (before >= offset + limit) break;
    if (block.rows > 0 && before + block.rows > offset) {
      if (blocks.length === 0) skip = offset - before;
      blocks.push(block);
    }
    before += block.rows;
  }
  return { skip, blocks };
};

const spanOf = (blocks: readonly MatchingBlock[]): number =>
  (blocks[0]?.last_ordinal ?? 0) - (blocks.at(-1)?.first_ordinal ?? 0) + 1;

/**
 * Whether matching rows lie so thinly that the blocks are better read one by one than all that lies
 * between the first and the last.
 */
export const isSparse = ({ blocks }: PagePlan, blockRows: number): boolean => {
  const matching = blocks.reduce((sum, { rows }) => sum + rows, 0);
  return spanOf(blocks) > 8 * matching + blockRows;
};
