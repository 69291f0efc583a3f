/** The server did not answer in time. The client itself has no timers. */
export class ServerSilent extends Error {
  constructor(what: string, ms: number) {
    super(`EventStoreDB did not answer ${what} within ${String(ms)} ms`);
    this.name = 'ServerSilent';
  }
}

export interface TimeLimit {
  readonly what: string;
  readonly ms: number;
}

/** Rejects with `ServerSilent` after the limit; what `promise` does later is ignored. */
export const within = async <T>(promise: Promise<T>, { what, ms }: TimeLimit): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ServerSilent(what, ms)), ms);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
};
