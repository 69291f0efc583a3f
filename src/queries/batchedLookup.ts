/** Asks for the rows of several keys in one statement; a key without a row is not in the map. */
type AskForMany<Row> = (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>;

interface TogetherLimits {
  /** Keys of one statement. */
  readonly keysMax: number;
  /** Statements under way; who comes meanwhile waits for the next one. */
  readonly atOnceMax: number;
}

const DEFAULT_LIMITS: TogetherLimits = { keysMax: 256, atOnceMax: 2 };

interface Waiting<Row> {
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Looks rows up by key, those of one turn of the event loop with one statement: many callers at once cost
 * the database one round trip. A row is read after it was asked for, never before, so a caller that waited
 * for its own writes sees them. A statement that fails fails for those that it was asked for, and no other.
 */
export const batchedLookup = <Row>(
  ask: AskForMany<Row>,
  { keysMax, atOnceMax }: TogetherLimits = DEFAULT_LIMITS,
): ((key: string) => Promise<Row | undefined>) => {
  let waiting = new Map<string, Waiting<Row>[]>();
  let atOnce = 0;
  let due = false;

  const taken = (): ReadonlyMap<string, readonly Waiting<Row>[]> => {
    if (waiting.size <= keysMax) {
      const all = waiting;
      waiting = new Map();
      return all;
    }
    const first = new Map([...waiting].slice(0, keysMax));
    for (const key of first.keys()) waiting.delete(key);
    return first;
  };

  const send = async (asked: ReadonlyMap<string, readonly Waiting<Row>[]>): Promise<void> => {
    try {
      const rows = await ask([...asked.keys()]);
      for (const [key, callers] of asked) for (const { resolve } of callers) resolve(rows.get(key));
    } catch (error) {
      for (const callers of asked.values()) for (const { reject } of callers) reject(error);
    }
  };

  const sendWaiting = (): void => {
    due = false;
    while (waiting.size > 0 && atOnce < atOnceMax) {
      atOnce += 1;
      void send(taken()).then(() => {
        atOnce -= 1;
        sendWaiting();
      });
    }
  };

  return (key) =>
    new Promise((resolve, reject) => {
      const callers = waiting.get(key);
      if (callers === undefined) waiting.set(key, [{ resolve, reject }]);
      else callers.push({ resolve, reject });
      if (due || atOnce >= atOnceMax) return;
      due = true;
      setImmediate(sendWaiting);
    });
};
