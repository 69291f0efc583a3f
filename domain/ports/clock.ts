/** Time and identity from outside; tests give their own. */
export interface Clock {
  /** RFC 3339 UTC with milliseconds. */
  readonly now: () => string;
  /** `<prefix>_` + a sortable ID (ULID). */
  readonly newId: (prefix: string) => string;
  /** A random UUID. */
  readonly uuid: () => string;
  /** Milliseconds that only run forward, of this process; left out: since it began. */
  readonly monotonicMs?: () => number;
}
