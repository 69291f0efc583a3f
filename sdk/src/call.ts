/** One call of the service as its description has it. */
export interface Call {
  readonly method: string;
  readonly path: string;
  /** The body is a form with a file instead of JSON. */
  readonly isForm?: boolean;
  /** It takes an `Idempotency-Key`, so that a repeat is not done twice. */
  readonly isKeyed?: boolean;
}

/** What every call takes beside its input. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Of calls that take one; one is made for each call that is given none. */
  readonly idempotencyKey?: string | undefined;
}

/** What goes into a request; typed by the call as `Input`. */
export interface CallInput {
  readonly body?: unknown;
  readonly path?: unknown;
  readonly query?: unknown;
  readonly headers?: unknown;
}

/** The input of a call: `path`, `query`, `headers` and `body`, those that it has. */
export type Input<Data> = Omit<Data, 'url'>;

/** The answer of a call that succeeded. */
export type Answer<Responses> = Responses[keyof Responses];

/** One entry of a call that answers with a page of a list. */
export type Entry<Responses> = Answer<Responses> extends { items: readonly (infer Item)[] } ? Item : never;
