/** The hold was closed before, or its operation has another one. */
export interface HoldNotOpen {
  readonly kind: 'hold_not_open';
}

/** How the hold of one operation is closed by a burn, whatever was done for it. */
export interface Settling<Bill, Left> {
  readonly settle: (hold_id: string) => Promise<Bill | Left | HoldNotOpen>;
  /** What an earlier settlement burned, if there was one. */
  readonly earlier: () => Promise<Bill | undefined>;
  readonly place: (hold_id: string) => Promise<'held' | Left | HoldNotOpen>;
  /** Gives a hold back that was not needed, for there is an earlier bill. */
  readonly giveBack: (hold_id: string, earlier: Bill) => Promise<Bill | Left>;
}

/**
 * Settles an operation once, whatever became of its hold: it may be open, settled by a request that never got
 * its answer, or released because it ran out. Then it is placed anew, under an ID that follows from the old
 * one, so that two retries at once share it, and only one of them can settle it.
 */
export const settleOnce = async <
  Bill extends { readonly kind: 'billed' },
  Left extends { readonly kind: string },
>(
  { settle, earlier, place, giveBack }: Settling<Bill, Left>,
  hold_id: string,
): Promise<Bill | Left | HoldNotOpen> => {
  const first = await settle(hold_id);
  if (first.kind !== 'hold_not_open') return first;
  const bill = await earlier();
  if (bill !== undefined) return bill;
  const again = `${hold_id}_again`;
  const placed = await place(again);
  if (placed !== 'held') return placed;
  const since = await earlier();
  return since === undefined ? settle(again) : giveBack(again, since);
};
