import { SqlUnavailable } from '../../../projections/engine/ports.ts';

/** A statement that PGlite refused, with its SQLSTATE; '' where it has none. */
class PgliteError extends Error {
  override readonly name = 'PgliteError';
  readonly code: string;
  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** No room, no memory, a disk that fails: the same statement succeeds once that is mended. */
const isLackOfMeans = (code: string): boolean => /^(53|58)...$/.test(code);

/** The error that callers of `Sql` get for a statement that failed. */
export const refusal = (message: string, code: string): Error =>
  isLackOfMeans(code)
    ? new SqlUnavailable(`embedded Postgres cannot write: ${message}`)
    : new PgliteError(message, code);

/** What a commit that Postgres has turned into a rollback means. */
export const requireCommitted = (tag: string): void => {
  if (tag === 'ROLLBACK') throw new PgliteError('the transaction was aborted by an earlier error', '25P02');
};
