/** What the books say of one tenant, each figure from rows of its own, in credits. */
export interface Books {
  /** Σ grants; refunds are negative grants. */
  readonly grants: number;
  /** Σ adjustments. */
  readonly adjustments: number;
  /** Σ burns. */
  readonly burns: number;
  /** The balance as it is shown. */
  readonly balance: number;
  /** Σ of all ledger rows, sales and refunds among them. */
  readonly posted: number;
}

/** balance = Σ grants + Σ adjustments − Σ burns (docs/explanation/why-events.md). */
export const expectedBalance = ({ grants, adjustments, burns }: Books): number =>
  grants + adjustments - burns;

/**
 * What the balance has too much (+) or too little (−); where the balance is right, what the ledger has.
 * 0: balance, ledger and grants agree.
 */
export const driftOf = (books: Books): number => {
  const expected = expectedBalance(books);
  return books.balance === expected ? books.posted - expected : books.balance - expected;
};
