/**
 * Names one file between the jobs of one request: the process that opened it for the first job keeps it open
 * for the next, while it is not needed for others. `close` is called once, however the request ends.
 */
export interface KeptFile {
  readonly closed: AbortSignal;
  close(): void;
}

/** Nothing is open yet: the first job that names it opens the file. */
export function keptFile(): KeptFile {
  const controller = new AbortController();
  return { closed: controller.signal, close: () => controller.abort() };
}
