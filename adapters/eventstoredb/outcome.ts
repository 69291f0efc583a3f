import type { AppendResult } from '../../domain/ports/eventStore.ts';

/**
 * What an append's error means. The client throws its own classes (with a `type`, often without a
 * message) and, right after a lost connection, raw gRPC errors (with a `code` only): both are looked at.
 * What is not surely a refusal leaves the outcome unknown.
 */
export const outcomeOf = (error: unknown): AppendResult => {
  const { type, code, actualVersion, detail } = membersOf(error);
  if (type === 'wrong-expected-version') {
    const actual = typeof actualVersion === 'bigint' && actualVersion >= 0n ? actualVersion : 'no_stream';
    return { kind: 'conflict', actual };
  }
  if (type === 'maximum-append-size-exceeded') return { kind: 'rejected', reason: 'too_large', detail };
  const refused = type === '' ? REFUSED_CODES.has(code) : REFUSED_TYPES.has(type);
  return refused ? { kind: 'rejected', reason: 'invalid', detail } : { kind: 'unknown', reason: detail };
};

const REFUSED_TYPES = new Set(['invalid-argument', 'access-denied', 'stream-deleted']);
/** INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED. */
const REFUSED_CODES = new Set([3, 7, 16]);

const PERMISSION_DENIED = 7;

interface Members {
  /** Empty for a raw gRPC error. */
  readonly type: string;
  /** -1 when there is none. */
  readonly code: number;
  readonly actualVersion: unknown;
  readonly detail: string;
}

const membersOf = (error: unknown): Members => {
  if (!(error instanceof Error))
    return { type: '', code: -1, actualVersion: undefined, detail: String(error) };
  const { type, code, actualVersion } = error as { type?: unknown; code?: unknown; actualVersion?: unknown };
  const typeText = typeof type === 'string' ? type : '';
  const codeNumber = typeof code === 'number' ? code : -1;
  const detail = error.message === '' ? `${typeText} (code ${codeNumber})` : error.message;
  return { type: typeText, code: codeNumber, actualVersion, detail };
};

/** What an error of the client says, whose own message may be empty. */
export const detailOf = (error: unknown): string => membersOf(error).detail;

/** A stream that is not there: the client throws it while reading. */
export const isStreamNotFound = (error: unknown): boolean => membersOf(error).type === 'stream-not-found';

/** The server said that the user may not. A read tells it as the cause of LogUnavailable. */
export const isDenied = (error: unknown): boolean => {
  const { type, code } = membersOf(error);
  if (type === 'access-denied' || code === PERMISSION_DENIED) return true;
  return error instanceof Error && error.cause !== undefined && isDenied(error.cause);
};
