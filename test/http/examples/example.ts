/** What is shown of an operation: what was sent, and what came back. */
export interface Example {
  readonly parameters?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  readonly status: number;
  readonly answer?: unknown;
}
