import { codeOf } from '../../domain/kernel/failure.ts';
import { SqlUnavailable } from '../../projections/engine/ports.ts';

/** A statement was sent in a transaction that an earlier statement had ended. */
const TRANSACTION_ENDED = '25P02';
/** Serialisation failure, deadlock, statement completion unknown: another try may well succeed. */
const CONFLICTS: readonly string[] = ['40001', '40P01', '40003'];

/** Classes 08 connection, 53 resources, 57 operator, 58 system; the driver's own errors have no SQLSTATE. */
export const isConnectionLost = (error: unknown): boolean => {
  const code = codeOf(error);
  if (/^(08|53|57|58)...$/.test(code)) return true;
  if (/^E[A-Z]+$/.test(code)) return true;
  // The driver's own errors have no code and no class.
  // eslint-disable-next-line no-restricted-syntax -- translated into SqlUnavailable below
  return error instanceof Error && /^(Connection terminated|timeout exceeded|Client)/i.test(error.message);
};

/** The server has rolled the transaction back for the sake of another: the same work may run again at once. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));

/** The error that ended the transaction, where `error` only says that one did. */
export const causeOf = (error: unknown, first: unknown): unknown =>
  codeOf(error) === TRANSACTION_ENDED && first !== undefined ? first : error;

/** SqlUnavailable for what may succeed later: a conflict that outlasted all tries is no fault of the statement. */
export const translated = (error: unknown): unknown =>
  error instanceof Error && (isConnectionLost(error) || CONFLICTS.includes(codeOf(error)))
    ? new SqlUnavailable(`Postgres is not available: ${error.message}`, { cause: error })
    : error;

/** Runs `work` and throws its errors translated. */
export const orUnavailable = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw translated(error);
  }
};
